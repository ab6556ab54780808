package tool

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/several"
)

// AskAgain is what a tool returns if its arguments are well formed but cannot be used. The model is shown the
// issues and asked again, which costs an attempt. Without issues, the model is asked for other arguments. The
// source of every issue becomes [fault.FromTool], because the tool has run. The error is an [*AskAgainError].
func AskAgain(issues ...fault.Issue) error {
	return &AskAgainError{Issues: said(issues)}
}

// AskAgainError asks the model for other arguments; see [AskAgain]. Safe for concurrent reading.
type AskAgainError struct {
	// Issues say why. None asks for other arguments.
	Issues []fault.Issue
}

// Error lists the issues on one line.
func (e *AskAgainError) Error() string {
	return "ask again: " + canon.Visible(several.Joined(said(e.Issues)))
}

// Failure returns the error as the core sees it.
func (e *AskAgainError) Failure() fault.Failure {
	return fault.Failure{Plane: fault.Correction, Class: fault.ToolValidation, Issues: said(e.Issues)}
}

// said returns issues of a tool in canonical order, with their source. There is at least one.
func said(issues []fault.Issue) []fault.Issue {
	own := slices.Clone(issues)
	if len(own) == 0 {
		own = []fault.Issue{{Rule: "refused", Expected: "other arguments"}}
	}
	for n := range own {
		own[n].Source = fault.FromTool
	}
	return fault.SortIssues(own)
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

// Error returns the text.
func (e *FailedError) Error() string { return canon.Visible(e.Text) }

// TryLater is what a tool returns if it did nothing and the same call is to be made again, after a wait of at
// least after (0 or more). The transport policy decides, whatever its classes and the tool's declaration. The
// model hears nothing of it until the tries are used up. If the policy's tries are unlimited, and it waits no
// time either, the call is made again after 1 s. err says why, for operators, and may be nil. The error is a
// [*LaterError].
func TryLater(err error, after time.Duration) error { return &LaterError{After: after, Cause: err} }

// LaterError asks for the same call again; see [TryLater]. Safe for concurrent reading.
type LaterError struct {
	// After is the least wait before the next try; a negative one counts as 0.
	After time.Duration
	// Cause says why, for operators; may be nil.
	Cause error
}

// Error says that the call is to be made later, and why.
func (e *LaterError) Error() string {
	if e.Cause == nil {
		return "try later"
	}
	return "try later: " + canon.Visible(e.Cause.Error())
}

// Unwrap returns the cause.
func (e *LaterError) Unwrap() error { return e.Cause }

// ErrUnknown is what a tool may return, wrapped or not, where it cannot tell whether the call had its effect.
// Drivers use it for calls that began and have no outcome: after a crash, for example. Such a call is not run
// again, and the model is told that its effect may have happened.
var ErrUnknown = errors.New("the outcome of the call is not known")

// ErrExited is the error of a tool, or of another call of user code, that ended the goroutine it ran on, as
// the FailNow of a test does.
var ErrExited = errors.New("the call ended its goroutine (runtime.Goexit)")
