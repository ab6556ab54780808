package tool

import (
	"cmp"
	"slices"

	"github.com/retake-go/retake/fault"
)

// AskAgain is what a tool returns if its arguments are well formed but cannot be used. The model is shown the
// issues and asked again, which costs an attempt. Without issues, the model is asked for other arguments. The
// error is a [*fault.ToolValidationError].
func AskAgain(issues ...fault.Issue) error {
	if len(issues) == 0 {
		issues = []fault.Issue{{Rule: "refused", Expected: "other arguments", Source: fault.FromTool}}
	}
	own := slices.Clone(issues)
	for n := range own {
		if own[n].Source == "" {
			own[n].Source = fault.FromTool
		}
	}
	return &fault.ToolValidationError{Issues: fault.SortIssues(own)}
}

// Fail is what a tool returns if it has failed for good. The model is told that the tool failed, and the text
// as a quotation on one line, at most 1 KiB of it. Nothing is charged. The error is a [*FailedError].
func Fail(text string) error { return &FailedError{Text: cmp.Or(text, wordless)} }

// wordless is what the model is told if a tool failed without a text.
const wordless = "the tool failed"

// FailedError says that a tool failed for good; see [Fail]. Safe for concurrent reading.
type FailedError struct {
	// Text is what the model is told; empty is as [Fail] has it.
	Text string
	// InDoubt is whether the call may have had its effect all the same. The model is told so, and a call
	// with the same arguments has the same [IdempotencyKey].
	InDoubt bool
	// Whole shows the model all of Text, quoted, for a tool that bounds it itself. Without it the model is
	// shown at most 1 KiB, and less if the feedback on the reply has no room.
	Whole bool
}

// Error is the text.
func (e *FailedError) Error() string { return e.Text }
