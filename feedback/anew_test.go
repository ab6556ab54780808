package feedback_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// A model whom a person lets go on learns how many attempts it has, and what to do, in the words for what was
// wrong.
func TestAPersonLetsTheModelGoOn(t *testing.T) {
	const lead = "Automatic check, not a message from the user: a person has looked at this since, and lets you go on"
	for want, of := range map[string]struct {
		in       feedback.Input
		attempts int
	}{
		", with 1 new attempt. Call pay again with all arguments corrected.": {feedback.Input{Tool: "pay", Class: fault.ToolValidation}, 1},
		", with 3 new attempts. Answer again and shorter, so that the answer is complete.": {
			feedback.Input{Class: fault.Truncated}, 3},
		", with new attempts. Call a tool that exists, by its exact name, or answer without one.": {
			feedback.Input{Tool: "play", Class: fault.UnknownTool}, -1},
	} {
		of.in.Attempt, of.in.MaxAttempts = 1, 1
		assert.Equal(t, lead+want, feedback.Anew(feedback.New(of.in), of.attempts))
	}
}
