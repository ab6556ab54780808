package feedback

import (
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// Source says what was proposed: a tool call or a final answer. The zero value is invalid.
type Source string

// The sources.
const (
	// Tool is a tool call.
	Tool Source = "tool"
	// StructuredOutput is a final answer.
	StructuredOutput Source = "structured_output"
)

// RetryFeedback says what was wrong with one attempt and what follows. It is a value to be logged,
// journaled and shown to the model: treat its slices as read-only. [New] makes one; the zero value is no
// feedback and has no wire form. Safe for concurrent reading.
type RetryFeedback struct {
	// Source is what was proposed.
	Source Source
	// ToolName is the tool that was called, as the model wrote it where it is unknown; empty (null on the
	// wire) for an answer.
	ToolName string
	// Attempt is the attempt that failed; the first is 1.
	Attempt int
	// MaxAttempts is how many attempts the action has, the first included; negative where there is no such
	// bound.
	MaxAttempts int
	// ErrorType is the class of the failure.
	ErrorType fault.Class
	// Message is one neutralised line of at most [MaxMessage] bytes, made from class and issues alone.
	Message string
	// Detail is what the user's own code said of the failure (a reducer's message), neutralised as by
	// [Quote]; mostly empty.
	Detail string
	// Schedule says when the next attempt is made; nil after the last one, and where none follows.
	Schedule *Schedule
	// Issues is all that is wrong, in canonical order and without repeats.
	Issues []fault.Issue
	// Diff is what changed since the attempt before; zero for the first attempt of an action.
	Diff Diff
	// CorrelationID is the session's.
	CorrelationID string
}

// Schedule is the plan for the next attempt.
type Schedule struct {
	// At is the time the next attempt is made at, in UTC: the time of the decision plus Delay.
	At time.Time
	// Delay is the wait before it; 0 or more.
	Delay time.Duration
}

// Diff compares the issues of an attempt with those of the attempt before, by what [fault.Issue.ID] is made
// of. It is zero at the first attempt, when there is nothing to compare with.
type Diff struct {
	// Fixed were wrong before and are right now, as they were reported then. An earlier issue that this
	// attempt could not be checked for is left out: after a reply that is no JSON at all, nothing counts as
	// fixed.
	Fixed []fault.Issue `json:"fixed,omitempty"`
	// New are wrong now and were not reported before.
	New []fault.Issue `json:"new,omitempty"`
	// Persistent were wrong before and still are, with the values of now.
	Persistent []fault.Issue `json:"persistent,omitempty"`
}

// IsZero reports whether the diff says nothing.
func (d Diff) IsZero() bool { return len(d.Fixed)+len(d.New)+len(d.Persistent) == 0 }

// Input is what [New] makes feedback from.
type Input struct {
	Source Source
	// Tool is the called tool's name; ignored for an answer.
	Tool string
	// Attempt is the attempt that failed, from 1; MaxAttempts the action's bound, negative for none.
	Attempt, MaxAttempts int
	Class                fault.Class
	// Issues may be in any order; the slice is left as it was.
	Issues []fault.Issue
	// Prev is the feedback of the attempt before in the same action; nil at the first.
	Prev *RetryFeedback
	// Scheduled is set where another attempt follows, Delay after At, the time of the decision. A negative
	// delay counts as 0.
	Scheduled bool
	At        time.Time
	Delay     time.Duration
	// Detail is what the user's own code said, raw; New neutralises it.
	Detail        string
	CorrelationID string
}

// New makes the feedback of a failed attempt. It never fails, depends on nothing but its argument, and keeps
// no slice of it.
func New(in Input) RetryFeedback {
	f := RetryFeedback{
		Source: in.Source, Attempt: in.Attempt, MaxAttempts: in.MaxAttempts,
		ErrorType: canon.UTF8(in.Class), CorrelationID: canon.UTF8(in.CorrelationID),
		Detail: Quote(in.Detail), Issues: fault.SortIssues(fault.PrintableIssues(in.Issues)),
	}
	if in.Source == Tool {
		f.ToolName = canon.UTF8(in.Tool)
	}
	if in.Scheduled {
		delay := max(in.Delay, 0)
		f.Schedule = &Schedule{At: in.At.Round(0).UTC().Add(delay), Delay: delay}
	}
	f.Message = message(in.Class, f.Detail, f.Issues)
	if in.Prev != nil {
		f.Diff = compare(in.Prev.Issues, f.Issues, in.Class)
	}
	return f
}

// none reports whether f is no feedback at all.
func (f *RetryFeedback) none() bool {
	return f.Source == "" && f.Attempt == 0 && f.ErrorType == "" && len(f.Issues) == 0
}

// Last reports whether no attempt follows.
func (f RetryFeedback) Last() bool { return f.Schedule == nil }
