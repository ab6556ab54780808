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

// Respond feeds a person's answer, after checking it: the arguments and the result as the tool's own. An
// answer that does not fit changes nothing, and the error is a [*machine.AnswerError].
func (r *Runner) Respond(at time.Time, answer machine.Response) ([]machine.Effect, error) {
	if r.journal != nil {
		answer.Question = r.journal.QuestionOf(answer.Question)
	}
	answer.Words, answer.By = fault.Scrub(canon.UTF8(answer.Words)), canon.UTF8(answer.By)
	if err := r.st.ResponseFault(&answer, at); err != nil {
		return nil, err
	}
	ev := machine.Event{Kind: machine.Responded, At: at, Response: &answer}
	a := askOf(&r.st, answer.Question)
	t, known := r.offer.Tools.Get(a.Tool)
	if !known && len(answer.Arguments)+len(answer.Result) > 0 {
		return nil, &machine.AnswerError{Question: answer.Question, Err: machine.ErrMisfit, Why: "there is no tool " + a.Tool}
	}
	if err := r.checkArguments(t, a, &answer); err != nil {
		return nil, err
	}
	if len(answer.Result) > 0 {
		result, err := t.Result(answer.Result)
		if err != nil {
			return nil, &machine.AnswerError{Question: answer.Question, Err: machine.ErrMisfit, Why: err.Error()}
		}
		run, out := r.st.Batch.Calls[a.Index].ToolRun, tool.Outcome{Result: result}
		ev.Tool = &machine.ToolEnd{Index: a.Index, Verdict: machine.Done, Result: result,
			Reduced: r.reduce(ToolEvents(session.DriverOf(r.s).Hears, run, out))}
		answer.Result = nil
	}
	effects, err := r.Step(ev)
	if err == nil && len(answer.Arguments) > 0 {
		delete(r.values.calls, a.CallID) // they are of the arguments before
	}
	return effects, err
}

// Undelivered records what was put into the inbox of the session and fits nothing. It is in the warnings of
// the result, and in the journal as a note.
func (r *Runner) Undelivered(at time.Time, text string) {
	r.changed = append(r.changed, text)
	if r.journal != nil {
		_ = r.journal.Note(journal.Note{Kind: journal.Undelivered, At: at, Text: text}) // the next step says what broke
	}
}

// maxForm is the largest schema that is recorded for a question.
const maxForm = 32 << 10

// recordForms records what the arguments have to be about which people are asked, for those who answer
// elsewhere.
func (r *Runner) recordForms(at time.Time, asks []machine.Ask) error {
	if r.journal == nil || r.unrecorded {
		return nil
	}
	for n := range asks {
		t, known := r.offer.Tools.Get(asks[n].Tool)
		if !known || asks[n].Kind == machine.AskExhausted {
			continue
		}
		form := journal.Note{Kind: journal.AskForm, At: at, Tool: asks[n].Tool, Schema: t.Parameters()}
		if len(form.Schema) > maxForm {
			continue
		}
		if err := r.journal.Note(form); err != nil {
			r.unrecorded = true // the run can still end in memory
			return err
		}
	}
	return nil
}

// Say feeds a user's message. late reports that a model call is under way. A message that was said before
// changes nothing.
func (r *Runner) Say(at time.Time, w session.Words, late bool) ([]machine.Effect, error) {
	if slices.Contains(r.st.Spoken, w.ID) {
		return nil, nil
	}
	w.Text = fault.Scrub(canon.UTF8(w.Text))
	return r.Step(machine.Event{Kind: machine.Spoken, At: at, Said: &machine.Said{Words: w, Late: late}})
}

// askOf returns an open question.
func askOf(st *machine.State, id string) *machine.Ask {
	for _, a := range st.Asks() {
		if a.ID == id {
			return &a
		}
	}
	return nil
}

// checkArguments checks changed arguments as the model's are checked, and writes them in canonical form.
func (r *Runner) checkArguments(t *tool.Tool, a *machine.Ask, answer *machine.Response) error {
	answer.Identity = nil
	if len(answer.Arguments) == 0 {
		return nil
	}
	misfit := &machine.AnswerError{Question: answer.Question, Err: machine.ErrMisfit, Why: "arguments: the tool refuses them"}
	arguments, err := canon.JSON(answer.Arguments)
	if err != nil {
		misfit.Why = "arguments: " + err.Error()
		return misfit
	}
	if misfit.Issues = fault.SortIssues(t.Check(arguments)); len(misfit.Issues) > 0 {
		return misfit
	}
	answer.Arguments = arguments
	answer.Identity = Settings(r.st.Policy).IdentityOf(a.Tool, arguments)
	return r.st.ResponseFault(answer, r.st.At)
}
