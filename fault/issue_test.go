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

// Nobody looks at the arguments of a call whose tool does not exist.
func TestTheErrorOfAnUnknownToolSpeaksOfTheTool(t *testing.T) {
	unknown := fault.Issue{Rule: fault.RuleUnknownTool, Expected: "one of book_room"}
	assert.EqualError(t, &fault.ToolValidationError{Tool: "book", Issues: []fault.Issue{unknown}}, `no tool "book": expected one of book_room`)
	nights := fault.Issue{Pointer: "/nights", Rule: "type", Expected: "integer", Got: fault.String}
	assert.EqualError(t, &fault.ToolValidationError{Tool: "book", Issues: []fault.Issue{nights}},
		`arguments of tool "book": nights: expected integer, got string`)
}
