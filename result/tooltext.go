package result

import (
	"cmp"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// ToolText returns the result as the text of an MCP tool's answer, and whether it is an error. The text of a
// success is its data, a string as it is and anything else as JSON; without data it is the content or the
// message. The text of work in progress is what there is so far. The text of an error is its code, as in
// result envelopes, and the message for users, not its own message, which is for operators. Data without a
// JSON form is an error.
func (r Result[T]) ToolText() (text string, isError bool) {
	if r.IsError() {
		return codeText(r.Error.Class) + ": " + r.UserMessage(), true
	}
	rest := cmp.Or(r.Content, r.Message)
	if r.IsInProgress() {
		return cmp.Or(rest, "in progress"), false
	}
	doc, err := canon.Marshal(r.Data)
	var plain string
	switch {
	case err != nil:
		return codeText(fault.InvalidResponse) + ": the data has no JSON form", true
	case kindOf(doc) == fault.Null:
		return cmp.Or(rest, "done"), false
	case canon.Unmarshal(doc, &plain) == nil:
		return plain, false
	}
	return string(doc), false
}

// codeText returns the name of a class in result envelopes.
func codeText(c fault.Class) string { return ownOr(c, c.Names().ResultEnvelope) }
