package inbox

import (
	"context"
	"errors"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/schema"
)

// Answer puts a person's answer to a question into the inbox of its session, if the run would take it now.
// Its At is when it was given, and must be set. The first answer counts: later ones are a
// [*machine.AnswerError] of [machine.ErrAnswered], whether the run has taken the first or not. Other
// answers that do not fit are that error, too: see [machine.State.ResponseFault]; and so are changed
// arguments that do not fit the schema of their tool, if the journal has it. The tool checks arguments and
// results when the run takes the answer; one that it refuses is in the warnings of the run, and the
// question stays open.
//
// Other errors are those of the store, and [journal.ErrNoRun] if there is no such session. After an error
// that is no AnswerError the answer may have been put: a second Answer tells. It is safe for concurrent use.
func Answer(ctx context.Context, store Store, session string, answer machine.Response) error {
	if answer.At.IsZero() {
		return errors.New("inbox: at: set when the answer was given")
	}
	answer.At = answer.At.UTC().Round(0)
	f, err := journal.Last(ctx, store, session)
	if err == nil {
		err = f.State.ResponseFault(&answer, answer.At)
	}
	if err == nil {
		err = formFault(f, &answer)
	}
	if err != nil {
		return err
	}
	item, err := mail.PutAnswer(ctx, store, session, answer)
	if err != nil {
		return err
	}
	return stands(ctx, store, session, item, &answer)
}

// formFault returns an error for changed arguments that do not fit the schema that the journal has of them.
func formFault(f *journal.Fold, answer *machine.Response) error {
	asks := f.State.Asks()
	n := slices.IndexFunc(asks, func(a machine.Ask) bool { return a.ID == answer.Question })
	if n < 0 || len(answer.Arguments) == 0 {
		return nil
	}
	form, err := schema.Compile(f.Form(asks[n].Tool))
	if err != nil {
		return nil // none is recorded: the tool will say
	}
	issues := fault.SortIssues(form.Check(answer.Arguments))
	if len(issues) == 0 {
		return nil
	}
	return &machine.AnswerError{Question: answer.Question, Err: machine.ErrMisfit,
		Why: "arguments: the tool refuses them", Issues: issues}
}

// stands reports an error if the run has gone on while an answer was put, with another answer or with none.
// The answer is then taken back.
func stands(
	ctx context.Context, store Store, session string, item journal.Item, answer *machine.Response,
) error {
	f, err := journal.Last(ctx, store, session)
	if err != nil {
		return err
	}
	same := func(g machine.Given) bool {
		return g.Question == answer.Question && g.Since().Equal(answer.At) && g.By == answer.By &&
			g.Verdict == answer.Verdict
	}
	if slices.ContainsFunc(f.State.Given(), same) {
		return nil // the run has taken it
	}
	if err = f.State.ResponseFault(answer, answer.At); err != nil {
		return errors.Join(err, chain.Bounded(store.Remove(ctx, session, item)))
	}
	return nil
}
