package feedback

import (
	"encoding/json"
	"iter"
)

// View is what templates may see of a session. Its methods must be pure: the same view always says the same.
type View interface {
	// LatestFeedback is the feedback that the attempt about to be made answers, of the tool with this name,
	// or of whatever failed last where action is empty. False where there is none: at a first attempt, and
	// once the action has succeeded.
	LatestFeedback(action string) (RetryFeedback, bool)
	// Feedback is all feedback of the session, oldest first.
	Feedback() iter.Seq[RetryFeedback]
	// Slice is the items of a session slice as JSON, in order; false where no slice has this name.
	Slice(name string) ([]json.RawMessage, bool)
}

// Data is what a template is filled in with: as "." and through the functions of [Funcs]. Make it with
// [NewData]; the zero value is a first attempt without a session.
type Data struct {
	// Attempt is the attempt the prompt is for, from 1; MaxAttempts its bound, negative for none, 0 where it
	// is not known.
	Attempt, MaxAttempts int
	// Feedback is that of the attempt before; nil at the first.
	Feedback *Shown
	// History is all feedback, oldest first.
	History []*Shown
	// Vars are the caller's own values. Nothing neutralises them: pipe what a user or model wrote through
	// quote.
	Vars map[string]any

	view View
	lim  Limits
}

// NewData reads a view, which may be nil, for the prompt of an attempt. Where attempt is 0, both numbers are
// taken from the latest feedback.
func NewData(view View, attempt, maxAttempts int, lim Limits) Data {
	d := Data{Attempt: max(attempt, 1), MaxAttempts: maxAttempts, view: view, lim: lim}
	if view == nil {
		return d
	}
	for f := range view.Feedback() {
		d.History = append(d.History, Show(f, lim))
	}
	f, ok := view.LatestFeedback("")
	if !ok {
		return d
	}
	d.Feedback = Show(f, lim)
	if attempt == 0 {
		d.Attempt, d.MaxAttempts = f.Attempt+1, f.MaxAttempts
	}
	return d
}

// dataOf is the data of one feedback alone.
func dataOf(f RetryFeedback, lim Limits) Data {
	shown := Show(f, lim)
	return Data{Attempt: f.Attempt + 1, MaxAttempts: f.MaxAttempts, Feedback: shown, History: []*Shown{shown}, lim: lim}
}

// feedbackFor is the latest feedback of a tool; nil where there is none.
func (d Data) feedbackFor(tool string) *Shown {
	if d.view == nil {
		if d.Feedback != nil && d.Feedback.f.ToolName == tool {
			return d.Feedback
		}
		return nil
	}
	f, ok := d.view.LatestFeedback(tool)
	if !ok {
		return nil
	}
	return Show(f, d.lim)
}

// String is the latest feedback's text; empty at the first attempt. For engines that only fill in strings.
func (d Data) String() string { return d.Feedback.String() }

// Map is the data for template engines that read maps. Every key is always there: "attempt", "max_attempts",
// "feedback" (an empty map at the first attempt), "feedback_text", "history" and "vars".
func (d Data) Map() map[string]any {
	history := make([]any, len(d.History))
	for n, s := range d.History {
		history[n] = s.Map()
	}
	vars := d.Vars
	if vars == nil {
		vars = map[string]any{}
	}
	return map[string]any{
		"attempt": max(d.Attempt, 1), "max_attempts": d.MaxAttempts, "feedback": d.Feedback.Map(),
		"feedback_text": d.String(), "history": history, "vars": vars,
	}
}
