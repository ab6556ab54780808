package fault_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
)

func TestLeavingOutIsToldOfNullAlone(t *testing.T) {
	null := fault.Issue{Pointer: "/nights", Rule: "type", Expected: "integer", Optional: true, Got: fault.Null}
	wrong := null
	wrong.Got = fault.String
	assert.Equal(t, "integer, or leave it out", null.Wanted())
	assert.Equal(t, "nights: expected integer, or leave it out, got null", null.String())
	assert.Equal(t, "integer", wrong.Wanted())
	assert.Equal(t, "nights: expected integer, got string", wrong.String())
	assert.Equal(t, null.ID(), wrong.ID(), "what was received is no part of what an issue is")
}

func TestIssuesAreMadePrintable(t *testing.T) {
	good, bad := fault.Issue{Pointer: "/a", Rule: "type"}, fault.Issue{Pointer: "/b\xff", Got: "\xfe", Source: fault.FromTool}
	issues := []fault.Issue{good, bad}
	mended := fault.Issue{Pointer: "/b\uFFFD", Got: "\uFFFD", Source: fault.FromTool}
	assert.Equal(t, []fault.Issue{good, mended}, fault.PrintableIssues(issues))
	assert.Equal(t, bad, issues[1], "the argument is left as it was")
	assert.Same(t, &issues[0], &fault.PrintableIssues(issues[:1])[0], "there is nothing to be done")
	assert.Nil(t, fault.PrintableIssues([]fault.Issue{}))
}
