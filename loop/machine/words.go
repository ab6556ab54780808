package machine

import (
	"encoding/json"
	"iter"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// refused is all that a model is told where the policy emits no feedback: every call wants an answer.
const refused = "Not accepted."

// correct are the words that answer one failed call, or a failed answer: those of the decision's feedback, with the
// call's own issues.
func (s *step) correct(d *Decision, issues []fault.Issue) string {
	if d.Feedback == nil {
		return refused
	}
	fb := *d.Feedback
	if issues != nil {
		fb.Issues = issues
	}
	return s.render(&fb)
}

// sibling are the words for a call whose action was decided on with another call of the same reply: what follows is what
// was decided then.
func (s *step) sibling(name string, f *fault.Failure, detail string) string {
	a := Action{Name: name, Attempt: 1}
	if open := s.find(name); open != nil {
		a = *open
	}
	p := s.policyOf(name)
	if !p.EmitFeedback {
		return refused
	}
	in := s.input(&a, p.MaxAttempts, f, detail)
	fb := feedback.Share(&in)
	if a.Last != nil {
		fb.Schedule = a.Last.Schedule
	}
	return s.render(&fb)
}

// input is what feedback on an action's attempt is made from, without a schedule.
func (s *step) input(a *Action, limit int, f *fault.Failure, detail string) feedback.Input {
	in := feedback.Input{
		Source: feedback.Tool, Tool: a.Name, Attempt: a.Attempt, MaxAttempts: limit, Class: f.Class, Issues: f.Issues,
		Prev: a.Last, Detail: detail, CorrelationID: s.Session.ID(),
	}
	if a.Name == AnswerAction {
		in.Source = feedback.StructuredOutput
	}
	return in
}

func (s *step) render(fb *feedback.RetryFeedback) string {
	if t := s.words.feedback; t != nil {
		text, err := feedback.RenderWith(t, *fb, s.Config.Limits)
		if err == nil {
			return text
		}
		s.warn("the feedback template failed, the default words were used")
	}
	return feedback.Render(*fb, s.Config.Limits)
}

// system is the system prompt of the next model call: the user's code made it, or the template is rendered.
func (s *step) system() (string, error) {
	if s.Config.UserPrompt || s.words.system == nil {
		return s.System, nil
	}
	at := s.positions()[0]
	st := s.State // what a template looks at is kept in memory of its own
	text, err := s.words.system.Render(feedback.NewData(view{&st}, at.Attempt, at.MaxAttempts, s.Config.Limits))
	return text, prefix("system", err)
}

// view is a state as templates read it.
type view struct{ st *State }

// LatestFeedback is that of the open action: once an action is closed, its feedback is history.
func (v view) LatestFeedback(action string) (feedback.RetryFeedback, bool) {
	if action != "" {
		if fb := v.st.Feedback(action); fb != nil {
			return *fb, true
		}
		return feedback.RetryFeedback{}, false
	}
	for _, fb := range v.st.Session.Feedback().Backward() {
		if v.st.Feedback(fb.ToolName) != nil {
			return fb, true
		}
	}
	return feedback.RetryFeedback{}, false
}

func (v view) Feedback() iter.Seq[feedback.RetryFeedback] {
	return func(yield func(feedback.RetryFeedback) bool) {
		for _, fb := range v.st.Session.Feedback().All() {
			if !yield(fb) {
				return
			}
		}
	}
}

func (v view) Slice(name string) ([]json.RawMessage, bool) {
	held, ok := v.st.Session.Values(name)
	if !ok {
		return nil, false
	}
	values := make([]json.RawMessage, 0, held.Len())
	for _, e := range held.All() {
		values = append(values, e.JSON())
	}
	return values, true
}
