package machine

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// refused is the whole answer to a call if the policy emits no feedback: every call needs an answer.
const refused = "Not accepted."

// correct returns the text for a failed call or answer: the decision's feedback with the call's own issues.
func (s *step) correct(d *Decision, issues []fault.Issue, lim feedback.Limits) string {
	if d.Feedback == nil {
		return refused
	}
	if issues == nil || slices.Equal(issues, d.Feedback.Issues) {
		return s.render(d.Feedback, lim)
	}
	own := *d.Feedback
	own.Issues = issues
	return s.render(&own, lim)
}

// sibling returns the text for a call whose action was already decided with another call of the reply.
func (s *step) sibling(c *BatchCall, f *fault.Failure, detail string) string {
	left := s.left()
	if !hasRoom(left) {
		return untold
	}
	a := Action{Name: c.Tool, Attempt: 1}
	if open := s.find(c.Tool); open != nil {
		a = *open
	}
	p := s.policyOf(c.Tool)
	if !p.EmitFeedback {
		return refused
	}
	in := s.input(&a, p.MaxAttempts, f, detail)
	fb := feedback.New(in)
	if a.Last != nil {
		fb.Schedule = a.Last.Schedule
	}
	return s.render(&fb, left)
}

// input returns the input for feedback on an action's attempt, without a schedule.
func (s *step) input(a *Action, limit int, f *fault.Failure, detail string) feedback.Input {
	return feedback.Input{
		Tool: a.Name, Attempt: a.Attempt, MaxAttempts: limit, Class: f.Class, Issues: f.Issues,
		Prev: a.Last, Detail: detail, CorrelationID: s.Session.ID(),
	}
}

// hasRoom reports whether there is room for feedback.
func hasRoom(lim feedback.Limits) bool { return lim.MaxIssues > 0 && lim.MaxBytes >= leastWords }

// render returns feedback as text within the limits that are left.
func (s *step) render(fb *feedback.RetryFeedback, lim feedback.Limits) string {
	if !hasRoom(lim) {
		return untold
	}
	if t := s.words.feedback; t != nil {
		text, err := t.Words(*fb, lim)
		if err == nil {
			return text
		}
		s.warn("the feedback template failed, the default words were used")
	}
	return feedback.Render(*fb, lim)
}

// system returns the system prompt of the next model call: the user's, or the rendered template.
func (s *step) system() (string, error) {
	if s.Config.UserPrompt || s.words.system == nil {
		return s.System, nil
	}
	at := s.positions()[0]
	text, err := s.words.system.Prompt(view{s.State}, at.Attempt, at.MaxAttempts, s.Config.Limits)
	return text, prefix("system", err)
}

// view is a state as templates read it.
type view struct{ st *State }

// LatestFeedback is the current feedback of an open action: once an action is closed or has another outcome,
// its feedback is history.
func (v view) LatestFeedback(action string) (feedback.RetryFeedback, bool) {
	if action != "" {
		if fb := v.st.Feedback(action); fb != nil {
			return *fb, true
		}
		return feedback.RetryFeedback{}, false
	}
	for fb := range v.st.Session.NewestFeedback() {
		if now := v.st.Feedback(fb.ToolName); now != nil {
			return *now, true
		}
	}
	return feedback.RetryFeedback{}, false
}

func (v view) Feedback() iter.Seq[feedback.RetryFeedback] {
	return slices.Values(v.st.Session.Feedback())
}

func (v view) Slice(name string) ([]json.RawMessage, bool) { return v.st.Session.Values(name) }
