package engine

import (
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Respond feeds a person's answer, after checking it: see [Answered]. An answer that does not fit changes
// nothing, and the error is a [*machine.AnswerError].
func (r *Runner) Respond(at time.Time, answer machine.Response) ([]machine.Effect, error) {
	if r.journal != nil {
		answer.Question = r.journal.QuestionOf(answer.Question)
	}
	ev, err := Answered(*r.st, r.offer.Tools, at, answer)
	if err != nil {
		return nil, err
	}
	r.reduceFor(&ev, nil)
	return r.Step(ev)
}

// Answered returns the event of a person's answer, after checking it as the run does, and its arguments and
// result as the tool's own. The engine adds what reducers make of a result. The error is a
// [*machine.AnswerError].
func Answered(
	st machine.State, tools *tool.Set, at time.Time, answer machine.Response,
) (machine.Event, error) {
	answer.Words, answer.By = fault.ScrubText(canon.UTF8(answer.Words)), canon.UTF8(answer.By)
	answer.Identity, answer.Exact, answer.Call = nil, nil, nil // who answers does not say what the call counts as
	ev := machine.Event{Kind: machine.Responded, At: at, Response: &answer}
	if err := st.ResponseFault(&answer, at); err != nil {
		return ev, err
	}
	a := st.OpenAsk(answer.Question)
	t, known := tools.Get(a.Tool)
	if !known && len(answer.Arguments)+len(answer.Result) > 0 {
		return ev, &machine.AnswerError{Question: answer.Question, Err: machine.ErrMisfit,
			Why: "there is no tool " + a.Tool}
	}
	if err := checkArguments(&st, t, a, &answer); err != nil {
		return ev, err
	}
	if len(answer.Result) > 0 {
		result, err := t.Result(answer.Result)
		if err != nil {
			return ev, &machine.AnswerError{Question: answer.Question, Err: machine.ErrMisfit, Why: err.Error()}
		}
		ev.Tool = &machine.ToolEnd{Index: a.Index, Verdict: machine.Done, Result: result}
		answer.Result = nil
	}
	return ev, nil
}

// Undelivered records what was put into the inbox of the session and fits nothing. It is in the warnings of
// the result, and in the journal as a note. After an error the run must stop, and the inbox stays as it is:
// what was put there may be for the run of another process that has the journal.
func (r *Runner) Undelivered(at time.Time, text string) error {
	r.changed = append(r.changed, text)
	if r.journal == nil {
		return nil
	}
	return r.journal.Note(journal.Note{Kind: journal.Undelivered, At: at, Text: text})
}

// maxForm is the largest schema that is recorded for a question.
const maxForm = 32 << 10

// recordForms records what the arguments have to be about which people are asked, for those who answer
// elsewhere.
func (r *Runner) recordForms(at time.Time, asks []machine.Ask) error {
	looked := map[string]bool{}
	for n := range asks {
		t, known := r.offer.Tools.Get(asks[n].Tool)
		if !known || asks[n].Index < 0 || looked[asks[n].Tool] {
			continue
		}
		looked[asks[n].Tool] = true
		form := journal.Note{Kind: journal.AskForm, At: at, Tool: asks[n].Tool, Schema: t.Parameters()}
		if len(form.Schema) > maxForm {
			continue
		}
		if err := r.journal.Note(form); err != nil {
			return err
		}
	}
	return nil
}

// Say feeds a user's message. late reports that a model call is under way. A message that was said before
// changes nothing. If a model call was left for the message, feed the event of [Spoken] with what it
// consumed.
func (r *Runner) Say(at time.Time, w session.Words, late bool) ([]machine.Effect, error) {
	ev := Spoken(*r.st, at, w, late)
	if ev == nil {
		return nil, nil
	}
	return r.Step(*ev)
}

// Spoken returns the event of a user's message; nil if the message was said before. late reports that a model
// call is under way.
func Spoken(st machine.State, at time.Time, w session.Words, late bool) *machine.Event {
	if slices.Contains(st.Spoken, w.ID) {
		return nil
	}
	w.Text = fault.ScrubText(canon.UTF8(w.Text))
	return &machine.Event{Kind: machine.Spoken, At: at, Said: &machine.Said{Words: w, Late: late}}
}

// SpokenDuring is [Spoken] for an engine that hears the user at once: calling reports that a model call is
// under way. leaves reports that the message leaves it, and the engine asks again.
func SpokenDuring(st machine.State, at time.Time, w session.Words, calling bool) (ev *machine.Event, leaves bool) {
	leaves = calling && w.Stop
	if ev = Spoken(st, at, w, calling && !leaves); ev == nil {
		return nil, false
	}
	ev.Left = leaves
	return ev, leaves
}

// checkArguments checks changed arguments as the model's are checked, and writes them in canonical form.
func checkArguments(st *machine.State, t *tool.Tool, a *machine.Ask, answer *machine.Response) error {
	if len(answer.Arguments) == 0 {
		return nil
	}
	misfit := &machine.AnswerError{Question: answer.Question, Err: machine.ErrMisfit,
		Why: "arguments: the tool refuses them"}
	arguments, err := canon.JSON(answer.Arguments)
	if err != nil {
		misfit.Why = "arguments: " + err.Error()
		return misfit
	}
	if misfit.Issues = fault.SortIssues(t.Check(arguments)); len(misfit.Issues) > 0 {
		return misfit
	}
	answer.Arguments = arguments
	settings := Settings(st.Policy)
	answer.Identity = settings.IdentityOf(a.Tool, arguments)
	if a.Kind == machine.AskExhausted {
		answer.Call = &machine.Call{Repeatable: t.Repeatable(), ReadOnly: t.Declared() == tool.DeclaredReadOnly,
			Exceeds: settings.Exceeds(a.Tool, arguments), NeedsApproval: t.NeedsApproval(arguments)}
	}
	return st.ResponseFault(answer, st.At)
}
