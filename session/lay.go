package session

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/packed"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// What a plain state holds is laid into a text, and taken from it, by the same functions. Of lists that are empty it takes nil.

func (s *State) lay(r *packed.Room) {
	b, told, tried := s.rare(), s.feedback.Len(), s.attempts.Len()
	packed.Text(r, &b.id)
	packed.Int(r, &told)
	if packed.Int(r, &tried); r.Takes() {
		*s = s.with(b)
	}
	for n := range told {
		var own feedback.RetryFeedback
		f := &own
		if r.Takes() {
			s.feedback, f = s.feedback.Next(max(told, firstFeedback))
		} else {
			own = s.feedback.At(n)
		}
		layFeedback(r, f, b.id)
	}
	next := 0 // mostly an attempt has the issues of its feedback, and what passed has none of either
	for n := range tried {
		var own Attempt
		a := &own
		if r.Takes() {
			s.attempts, a = s.attempts.Next(max(tried, firstAttempts))
		} else {
			own = s.attempts.At(n)
		}
		a.lay(r)
		var of []fault.Issue
		if next < told {
			of = s.feedback.At(next).Issues
		}
		if layShared(r, &a.Issues, of) {
			next++
		}
	}
}

// lay lays an attempt without its issues, or takes it.
func (a *Attempt) lay(r *packed.Room) {
	packed.Text(r, &a.Action)
	packed.Int(r, &a.Attempt)
	packed.Int(r, &a.MaxAttempts)
	packed.Word(r, &a.Plane, fault.Correction, fault.Transport)
	layClass(r, &a.Class)
	packed.Word(r, &a.Reason, policy.Accepted, policy.Backoff, policy.ServerAsked, policy.Immediate)
	packed.Flag(r, &a.Retry)
	packed.Int(r, &a.Delay)
	packed.Time(r, &a.At)
	u := &a.Usage
	used := *u != message.Usage{}
	if packed.Flag(r, &used); used {
		for _, n := range []*int64{&u.InputTokens, &u.OutputTokens, &u.CacheReadTokens, &u.CacheWriteTokens, &u.APICalls} {
			packed.Int(r, n)
		}
	}
}

func layClass(r *packed.Room, c *fault.Class) {
	packed.Word(r, c, "", fault.RateLimit, fault.Overloaded, fault.Unavailable, fault.Timeout, fault.Network, fault.ToolValidation, fault.StructuredOutput)
}

// layFeedback lays feedback of a session, or takes it.
func layFeedback(r *packed.Room, f *feedback.RetryFeedback, session string) {
	packed.Word(r, &f.Source, feedback.Tool, feedback.StructuredOutput)
	packed.Text(r, &f.ToolName)
	packed.Int(r, &f.Attempt)
	packed.Int(r, &f.MaxAttempts)
	layClass(r, &f.ErrorType)
	packed.Text(r, &f.Message)
	packed.Text(r, &f.Detail)
	packed.Word(r, &f.CorrelationID, session)
	scheduled := f.Schedule != nil
	if packed.Flag(r, &scheduled); scheduled {
		if r.Takes() {
			f.Schedule = new(feedback.Schedule)
		}
		packed.Time(r, &f.Schedule.At)
		packed.Int(r, &f.Schedule.Delay)
	}
	layIssues(r, &f.Issues)
	layIssues(r, &f.Diff.Fixed)
	layShared(r, &f.Diff.New, f.Issues)
	layShared(r, &f.Diff.Persistent, f.Issues)
}

// layShared lays issues that mostly are some that were laid, or takes them. It reports whether they are.
func layShared(r *packed.Room, issues *[]fault.Issue, laid []fault.Issue) bool {
	if len(laid) == 0 {
		layIssues(r, issues)
		return false
	}
	same := fault.SameIssues(*issues, laid)
	if packed.Flag(r, &same); !same {
		layIssues(r, issues)
	} else if r.Takes() {
		*issues = laid
	}
	return same
}

// layIssues lays issues, or takes them.
func layIssues(r *packed.Room, issues *[]fault.Issue) {
	n := len(*issues)
	if packed.Int(r, &n); r.Takes() && n > 0 {
		*issues = make([]fault.Issue, n)
	}
	for n := range *issues {
		i := &(*issues)[n]
		packed.Text(r, &i.Pointer)
		packed.Text(r, &i.Rule)
		packed.Text(r, &i.Expected)
		packed.Word(r, &i.Got, "", fault.Null, fault.Boolean, fault.Integer, fault.Number, fault.String, fault.Array, fault.Object)
		packed.Text(r, &i.Value)
		packed.Word(r, &i.Source, fault.FromJSON, fault.FromSchema, fault.FromRules, fault.FromTool, fault.FromReply)
	}
}
