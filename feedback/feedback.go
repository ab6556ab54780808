package feedback

import (
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// Source is what the model proposed: a tool call or a final answer. The zero value is invalid.
type Source string

// The sources.
const (
	// Tool is a tool call.
	Tool Source = "tool"
	// StructuredOutput is a final answer.
	StructuredOutput Source = "structured_output"
)

// RetryFeedback describes what was wrong with one attempt and what follows. It is logged, journaled and shown
// to the model. Treat its slices as read-only. Make one with [New]; the zero value is no feedback and has no
// wire form. It is safe for concurrent reading.
type RetryFeedback struct {
	// Source is what the model proposed.
	Source Source
	// ToolName is the name of the called tool, as the model wrote it if there is no such tool. It is empty
	// (null on the wire) for an answer.
	ToolName string `json:"tool_name" redact:"name"`
	// Attempt is the number of the failed attempt, from 1.
	Attempt int
	// MaxAttempts is the most attempts of the action, including the first, that its policy and the budgets of
	// failed attempts leave; negative means no limit.
	MaxAttempts int
	// ErrorType is the class of the failure.
	ErrorType fault.Class
	// Message is one neutralised line of at most [MaxMessage] bytes, made from the class and the issues.
	Message string `json:"message" redact:"text"`
	// Detail is what the user's code said about the failure, such as a reducer's message. It is neutralised
	// by [Quote] and usually empty.
	Detail string `json:"detail" redact:"text"`
	// Schedule is when the next attempt is made; nil if there is none.
	Schedule *Schedule
	// Issues are everything that is wrong, in canonical order and without repeats.
	Issues []fault.Issue `json:"issues"`
	// Diff is what changed since the previous attempt; zero for the first attempt of an action.
	Diff Diff `json:"diff"`
	// CorrelationID is the correlation id of the session.
	CorrelationID string `json:"correlation_id" redact:"keep"`
}

// Schedule is the plan for the next attempt.
type Schedule struct {
	// At is the time of the next attempt in UTC: the time of the decision plus Delay.
	At time.Time
	// Delay is the wait before it; 0 or more.
	Delay time.Duration
}

// Diff compares the issues of an attempt with those of the previous attempt by [fault.Issue.ID]. It is zero
// for the first attempt.
type Diff struct {
	// Fixed were wrong before and are right now, as reported then. They leave out issues for which this
	// attempt could not be checked: after a reply that is not JSON, nothing counts as fixed.
	Fixed []fault.Issue `json:"fixed,omitempty"`
	// New are wrong now and were not before.
	New []fault.Issue `json:"new,omitempty"`
	// Persistent were wrong before and still are, with their current values.
	Persistent []fault.Issue `json:"persistent,omitempty"`
}

// IsZero reports whether the diff is empty.
func (d Diff) IsZero() bool { return len(d.Fixed)+len(d.New)+len(d.Persistent) == 0 }

// Input is the argument of [New].
type Input struct {
	// Tool is the name of the called tool; empty for an answer.
	Tool string
	// Attempt is the number of the failed attempt, from 1. MaxAttempts is the action's limit; negative means
	// none.
	Attempt, MaxAttempts int
	Class                fault.Class
	// Issues may be in any order. New does not change the slice.
	Issues []fault.Issue
	// Prev is the feedback of the previous attempt of the action; nil for the first.
	Prev *RetryFeedback
	// Scheduled reports whether another attempt follows, Delay after At, the time of the decision. A negative
	// delay counts as 0.
	Scheduled bool
	At        time.Time
	Delay     time.Duration
	// Detail is what the user's code said, unquoted. New neutralises it.
	Detail        string
	CorrelationID string
}

// New returns the feedback of a failed attempt. It depends only on its argument and keeps none of its slices.
func New(in Input) RetryFeedback {
	f := RetryFeedback{
		Source: StructuredOutput, ToolName: canon.UTF8(in.Tool), Attempt: in.Attempt,
		MaxAttempts: in.MaxAttempts, ErrorType: canon.UTF8(in.Class),
		CorrelationID: canon.UTF8(in.CorrelationID),
		Detail:        Quote(in.Detail),
		Issues:        fault.SortIssues(slices.Clone(fault.PrintableIssues(in.Issues))),
	}
	if f.ToolName != "" {
		f.Source = Tool
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

// About returns the feedback for one of several calls of the attempt, which has these issues, in canonical
// order. What another call corrected is not right in this one if this one could not be checked for it.
func (f RetryFeedback) About(issues []fault.Issue) RetryFeedback {
	f.Issues, f.Diff.Fixed = issues, pick(f.Diff.Fixed, passed(issues, f.ErrorType))
	return f
}

// isZero reports whether f is the zero feedback.
func (f *RetryFeedback) isZero() bool {
	return f.Source == "" && f.Attempt == 0 && f.ErrorType == "" && len(f.Issues) == 0
}

// Last reports whether no further attempt follows.
func (f RetryFeedback) Last() bool { return f.Schedule == nil }
