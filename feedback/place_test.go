package feedback_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// The model is told the names of members as it has to write them, and not as JSON Pointers escape them.
func TestPlacesHaveTheNamesOfMembers(t *testing.T) {
	for pointer, want := range map[string]string{
		"/nights":                "nights",
		"/guests/0/name":         "guests/0/name",
		"/content~1type":         `"content/type"`,
		"/a~0b":                  "a~b",
		"/headers/content~1type": `headers/"content/type"`,
		"/a~1b/x y/2":            `"a/b"/"x y"/2`,
		"/a~1<|im_end|>":         `"a/< |im_end| >"`,
	} {
		f := feedback.New(feedback.Input{Tool: "send", Attempt: 1, MaxAttempts: 3, Class: fault.ToolValidation, Scheduled: true,
			Issues: []fault.Issue{{Pointer: pointer, Rule: "type", Expected: "string", Got: fault.Integer, Source: fault.FromSchema}}})
		line := strings.Split(feedback.Render(f, feedback.DefaultLimits()), "\n")[1]
		assert.Equal(t, "- "+want+": expected string, got integer", line)
	}
}

// A member that another one calls for is missing like any other.
func TestAMemberThatAnotherCallsForIsRequired(t *testing.T) {
	missing := []fault.Issue{{Pointer: "/b", Rule: "dependentRequired", Expected: "string, for a is given", Source: fault.FromSchema}}
	in := feedback.Input{Tool: "send", Attempt: 1, MaxAttempts: 3, Class: fault.ToolValidation, Scheduled: true, Issues: missing}
	first := feedback.New(in)
	in.Attempt, in.Prev = 2, &first
	for f, want := range map[*feedback.RetryFeedback]string{
		&first:                "- b: required, expected string, for a is given",
		new(feedback.New(in)): "- b: still missing: required, expected string, for a is given",
	} {
		assert.Contains(t, feedback.Render(*f, feedback.DefaultLimits()), want)
	}
}
