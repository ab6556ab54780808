package session

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// The records of the built-in logs are brought into the form in which a snapshot gives them back, so that a resumed run
// reads what a live one read. Nothing is copied where nothing is to be done.

func cleanFeedback(f feedback.RetryFeedback) feedback.RetryFeedback {
	f.ToolName, f.Message, f.Detail = text(f.ToolName), text(f.Message), text(f.Detail)
	f.ErrorType, f.CorrelationID = text(f.ErrorType), text(f.CorrelationID)
	f.Issues = cleanIssues(f.Issues)
	f.Diff = feedback.Diff{
		Fixed: cleanIssues(f.Diff.Fixed), New: cleanIssues(f.Diff.New), Persistent: cleanIssues(f.Diff.Persistent),
	}
	if f.Schedule != nil && f.Schedule.At != inUTC(f.Schedule.At) {
		f.Schedule = &feedback.Schedule{At: inUTC(f.Schedule.At), Delay: f.Schedule.Delay}
	}
	return f
}

func cleanAttempt(a Attempt) Attempt {
	a.Action, a.Plane, a.Class, a.Reason = text(a.Action), text(a.Plane), text(a.Class), text(a.Reason)
	a.Issues = cleanIssues(a.Issues)
	a.At = inUTC(a.At)
	if year := a.At.Year(); year < 0 || year > 9999 {
		a.At = time.Time{} // has no form in JSON
	}
	return a
}

// cleanReducerError leaves the cause behind: a state holds values and no Go errors.
func cleanReducerError(e fault.ReducerError) fault.ReducerError {
	return fault.ReducerError{
		Reducer: text(e.Reducer), Payload: text(e.Payload), Message: text(e.Message), Panicked: e.Panicked,
	}
}

func cleanIssues(issues []fault.Issue) []fault.Issue {
	if len(issues) == 0 {
		return nil
	}
	at := slices.IndexFunc(issues, unclean)
	if at < 0 {
		return issues
	}
	cleaned := slices.Clone(issues)
	for n := at; n < len(cleaned); n++ {
		cleaned[n] = cleanIssue(cleaned[n])
	}
	return cleaned
}

func unclean(i fault.Issue) bool {
	return !utf8.ValidString(i.Pointer) || !utf8.ValidString(i.Rule) || !utf8.ValidString(i.Expected) ||
		!utf8.ValidString(string(i.Got)) || !utf8.ValidString(i.Value) || !utf8.ValidString(string(i.Source))
}

func cleanIssue(i fault.Issue) fault.Issue {
	return fault.Issue{
		Pointer: text(i.Pointer), Rule: text(i.Rule), Expected: text(i.Expected), Got: text(i.Got),
		Value: text(i.Value), Source: text(i.Source),
	}
}

// text is s as UTF-8, which JSON is written in.
func text[S ~string](s S) S {
	if utf8.ValidString(string(s)) {
		return s
	}
	return S(strings.ToValidUTF8(string(s), "\uFFFD"))
}

// inUTC is the same instant without a clock reading or a place.
func inUTC(t time.Time) time.Time { return t.Round(0).UTC() }
