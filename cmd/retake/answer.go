package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

var answerCommand = command{
	name:    "answer",
	summary: "answers a question of a run, in whatever process the run is",
	example: `retake answer order-42 1.2.1-5c0e… refuse -reason "Ask finance first."`,
	usage: []string{
		"answer [-reason TEXT] [-arguments JSON] [-by NAME] [STORE] SESSION CALL approve|refuse",
		"answer [-reason TEXT] [-result JSON] [-by NAME] [STORE] SESSION CALL " +
			"done|not_done|run_again|nobody_knows",
		"answer [-reason TEXT] [-arguments JSON] [-policy JSON] [-by NAME] [STORE] SESSION CALL go_on|end",
	},
	about: `
Puts an answer into the inbox of a session. The process that has the run takes it within a second; a run
that is left takes it when it is resumed. SESSION and CALL are those of "retake pending". The first answer
counts.

approve and refuse answer whether a call may be made. done and the three after it say what became of a call
whose outcome is unknown: done needs its result. go_on and end answer what is to follow where a run has
given up; the reason is then a hint for the model, -arguments correct the call that was not accepted, and
-policy sets other settings for the rest of the run.
The model is told a refusal with its reason, and that a person changed the arguments.

STORE is a folder of journals, a SQLite database or an address postgres://…. Without it, it is that of the
variable RETAKE_STORE, or the current folder.

The exit status is 1 for an answer that is not taken: the question is answered, over or another one.`,
	task: newTask[answer],
}

// recipient is a session in a store, and who speaks to it.
type recipient struct {
	unsealing
	By             string `flag:"by NAME" help:"NAME is who says so, by default $USER"`
	store, session string
}

// take takes the store, if it is there, and the session from arguments of which more follow. want are their
// names.
func (t *recipient) take(args []string, more int, want string) ([]string, error) {
	switch len(args) - more {
	case 2:
		t.store, args = args[0], args[1:]
	case 1:
	default:
		return nil, misused("give %s, not %s", want, several.Of(len(args), "argument"))
	}
	t.session = args[0]
	t.store = cmp.Or(t.store, os.Getenv("RETAKE_STORE"), ".")
	t.By = cmp.Or(t.By, os.Getenv("USER"))
	return args[1:], areStores(t.store)
}

// put opens the store and speaks to the session. A refusal of what is said is the answer no.
func (t *recipient) put(e *env, say func(context.Context, inbox.Store) error) error {
	store, err := e.openInbox(t.store, toWrite)
	if err == nil {
		err = say(context.Background(), store)
	}
	if _, misfit := errors.AsType[*machine.AnswerError](err); misfit || errors.Is(err, inbox.ErrEnded) {
		e.warn("not taken: %v", err)
		return errNotOK
	}
	if errors.Is(err, journal.ErrNoRun) {
		return fmt.Errorf("%w in the store %s: another can stand before the session", err, shown(t.store))
	}
	return err
}

// answer is one call of the command.
type answer struct {
	recipient
	Reason    string `flag:"reason TEXT" help:"TEXT that the model is told with a refusal"`
	Arguments string `flag:"arguments JSON" help:"make the call with these arguments, as JSON"`
	Result    string `flag:"result JSON" help:"what the call returned, as JSON"`
	Policy    string `flag:"policy JSON" help:"go on with these settings over the run's policy, as JSON"`
	call      string
	verdict   machine.Ruling
	layer     *policy.Layer
}

var verdicts = []machine.Ruling{
	machine.Approve, machine.Refuse,
	machine.WasDone, machine.WasNotDone, machine.RunAgain, machine.NobodyKnows,
	machine.GoOn, machine.EndRun,
}

func (a *answer) take(args []string) error {
	rest, err := a.recipient.take(args, 2, "SESSION CALL VERDICT")
	if err != nil {
		return err
	}
	a.call, a.verdict = rest[0], machine.Ruling(rest[1])
	if !slices.Contains(verdicts, a.verdict) {
		return misused("%q is no verdict: give one of %q", rest[1], verdicts)
	}
	for _, given := range [][2]string{{"arguments", a.Arguments}, {"result", a.Result}} {
		if text := given[1]; text != "" && !json.Valid([]byte(text)) {
			return misused("-%s: it is not JSON", given[0])
		}
	}
	if a.Policy != "" {
		a.layer = new(policy.Layer)
		if err := json.Unmarshal([]byte(a.Policy), a.layer); err != nil {
			return misused("-policy: %v", err)
		}
	}
	return nil
}

func (a *answer) run(e *env) error {
	r := machine.Response{
		Question: a.call, Verdict: a.verdict, Words: a.Reason, By: a.By, At: time.Now(),
		Arguments: json.RawMessage(a.Arguments), Result: json.RawMessage(a.Result), Policy: a.layer,
	}
	return a.put(e, func(ctx context.Context, store inbox.Store) error {
		err := inbox.Answer(ctx, store, a.session, r)
		if err == nil {
			e.printf("%s: %s\n", plain(a.call), r.Verdict)
		}
		return err
	})
}
