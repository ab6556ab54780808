package machine

import (
	"encoding/json"
	"iter"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// correct returns the text for a failed call or answer: the decision's feedback with the call's own issues.
func (s *step) correct(d *Decision, issues []fault.Issue, lim feedback.Limits) string {
	texts, _ := s.share(lim, feedback.Item{Feedback: d.about(issues)})
	return texts[0]
}

// about returns the feedback of a decision with the issues of one call; nil if the decision has none.
func (d *Decision) about(issues []fault.Issue) *feedback.RetryFeedback {
	if d.Feedback == nil || issues == nil || slices.Equal(issues, d.Feedback.Issues) {
		return d.Feedback
	}
	own := *d.Feedback
	own.Issues = issues
	return &own
}

// sibling returns the text for a call whose action was already decided with another call of the reply.
func (s *step) sibling(c *BatchCall, f *fault.Failure, detail string) string {
	a := Action{Name: c.Tool, Attempt: 1}
	if open := s.find(c.Tool); open != nil {
		a = *open
	}
	var item feedback.Item
	if p := s.policyOf(c.Tool); p.EmitFeedback {
		fb := feedback.New(s.input(&a, p.MaxAttempts, f, detail))
		if a.Last != nil {
			fb.Schedule = a.Last.Schedule
		}
		item.Feedback = &fb
	}
	texts, _ := s.share(s.left(), item)
	return texts[0]
}

// share returns feedback as texts, and how much of the limits they use.
func (s *step) share(lim feedback.Limits, items ...feedback.Item) ([]string, feedback.Limits) {
	texts, used, err := feedback.RenderAll(items, lim, s.words.feedback)
	if err != nil {
		s.warn("the feedback template failed, the default words were used")
	}
	return texts, used
}

// input returns the input for feedback on an action's attempt, without a schedule.
func (s *step) input(a *Action, limit int, f *fault.Failure, detail string) feedback.Input {
	return feedback.Input{
		Tool: a.Name, Attempt: a.Attempt, MaxAttempts: limit, Class: f.Class, Issues: f.Issues,
		Prev: a.Last, Detail: detail, CorrelationID: s.Session.ID(),
	}
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
