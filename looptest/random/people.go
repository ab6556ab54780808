package random

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// answerWay is how an answer comes.
type answerWay string

// The ways. A question without a deadline is answered at once.
const (
	// atOnce: the approver answers.
	atOnce answerWay = "at once"
	// byInbox: the answer is put into the inbox in time, and taken at the deadline.
	byInbox answerWay = "by inbox"
	// tooLate: the approver answers when the deadline is over.
	tooLate answerWay = "too late"
	// never: nobody answers.
	never answerWay = "never"
)

// answerCase is what a person does with a question of each kind.
type answerCase struct {
	Way answerWay
	// Approval, Doubt and Exhausted are the verdicts. Arguments, with an approval, and Policy, after an
	// exhaustion, may be empty. Corrected are the arguments with which a person who goes on corrects the
	// call, if there is one; empty gives it back to the model.
	Approval, Doubt, Exhausted machine.Ruling
	Arguments                  json.RawMessage
	Corrected                  json.RawMessage
	Policy                     *policy.Layer
	Words                      string
	By                         string
}

// sayCase is a message of the user, said in a model call or to a person who is asked.
type sayCase struct {
	// After is how many replies came before; each message has more than the one before it.
	After int
	// Asked reports that it is said when a question is asked, else it is said in a model call.
	Asked bool
	session.Words
}

// itemPut is what was said or answered when the journal had so many events of so many runs, and Case.Says was
// said up to it. It can be seen in the inbox from due on.
type itemPut struct {
	journal.Item
	after, runs, said int
	due               time.Time
}

// Answer returns what a person does with a question. An answer with an At is in the inbox when the question's
// deadline is over, and one without a verdict is none. If until is set, the person is silent until then. What
// the user says meanwhile is in the Hear of the world.
func (w *World) Answer(a machine.Ask, view session.State) (r machine.Response, until time.Time, err error) {
	r, way := w.answerTo(a, view)
	if err := w.speak(context.Background(), a.ID); err != nil {
		return machine.Response{}, until, err
	}
	switch way {
	case atOnce:
		return r, until, nil
	case byInbox:
		r.At = looptest.Epoch
		return r, until, nil
	case tooLate:
		until = a.Deadline
	}
	return machine.Response{}, until, nil
}

// answerTo returns the answer to a question, and how it comes. It is the same after a crash.
func (w *World) answerTo(a machine.Ask, view session.State) (machine.Response, answerWay) {
	var run, turn, call int
	_, _ = fmt.Sscanf(a.ID, "%d.%d.%d-", &run, &turn, &call)
	of := w.Case.Answers[(run+turn+call)%len(w.Case.Answers)]
	r, way := machine.Response{Question: a.ID, Words: of.Words, By: of.By}, of.Way
	switch a.Kind {
	case machine.AskApproval:
		if r.Verdict = of.Approval; r.Verdict == machine.Approve && w.mayChange(a.Tool) {
			r.Arguments = of.Arguments
		}
	case machine.AskDoubt:
		if r.Verdict = of.Doubt; r.Verdict == machine.WasDone {
			r.Result = json.RawMessage(`{"number":"` + resultSecret + `"}`)
		}
	default:
		if r.Verdict, r.Policy = of.Exhausted, of.Policy; r.Verdict != machine.GoOn || view.AttemptCount() > patience {
			r.Verdict, r.Policy = machine.EndRun, nil
		} else if a.Index >= 0 && len(of.Corrected) > 0 && w.mayCorrect(a.Tool) {
			r.Arguments = of.Corrected
		}
	}
	if a.Deadline.IsZero() || way == byInbox && w.isTimed() {
		way = atOnce
	}
	return r, way
}

// isTimed reports whether the run depends on when an answer is taken from the inbox: engines may look at any
// time.
func (w *World) isTimed() bool {
	return !w.Case.Input.Deadline.IsZero() ||
		slices.ContainsFunc(w.Case.Tools, func(t toolCase) bool { return t.Policy.Polling != nil })
}

// mayChange reports whether a person changes arguments of calls of a tool: not if the policy could refuse a
// call that equals another.
func (w *World) mayChange(name string) bool {
	t := w.Case.tool(name)
	return t != nil && t.Policy.EqualCalls == ""
}

// mayCorrect reports whether a person corrects calls of a tool: not if a cap could refuse the call either.
func (w *World) mayCorrect(name string) bool {
	if !w.mayChange(name) {
		return false
	}
	own := &w.Case.tool(name).Policy
	return own.MaxSuccesses == nil && own.MaxSessionSuccesses == nil
}

// approve is the approver of the case.
func (w *World) approve(ctx context.Context, q loop.PersonQuestion) (machine.Response, error) {
	r, until, err := w.Answer(q.Ask, q.View)
	switch {
	case err != nil:
		return r, err
	case !until.IsZero():
		return r, w.hang(ctx)
	case !r.At.IsZero():
		return machine.Response{}, w.post(ctx, q.Ask, r)
	}
	return r, nil
}

// post puts an answer into the inbox, as another process does.
func (w *World) post(ctx context.Context, a machine.Ask, r machine.Response) error {
	pending, err := inbox.PendingOf(ctx, w.Store, w.Session.ID, r.At)
	if err != nil {
		return err
	}
	for _, q := range pending {
		if q.Index == a.Index {
			r.Question = q.Call // a redacted journal has another
		}
	}
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	w.mu.Lock()
	said := w.spoken
	w.mu.Unlock()
	item := journal.Item{Kind: journal.AnswerItem, Key: r.Question, By: r.By, At: r.At, Body: body}
	if err = w.keepItem(item, said, a.Deadline); err != nil {
		return err
	}
	if err = inbox.Answer(ctx, w.Store, w.Session.ID, r); errors.Is(err, machine.ErrAnswered) {
		return nil // before a crash
	}
	return err
}

// keepItem notes an item so that it is in the inbox after a crash, and can be seen there from due on.
func (w *World) keepItem(i journal.Item, said int, due time.Time) error {
	read, err := w.read(w.Session.ID, w.Store.Text(w.Session.ID))
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.ContainsFunc(w.items, func(o itemPut) bool { return o.Kind == i.Kind && o.Key == i.Key }) {
		w.items = append(w.items, itemPut{i, read.before(i.Kind), read.runs, said, due})
	}
	return nil
}

// speak says what the case says at this point, once: in a model call, or to the person of a question. A
// message that stops the call ends ctx.
func (w *World) speak(ctx context.Context, question string) error {
	asked := question != ""
	w.mu.Lock()
	n := w.spoken
	if n == len(w.Case.Says) || w.Case.Says[n].Asked != asked || w.Case.Says[n].After > w.replied || !w.mayHear() ||
		w.saidAt(question, n) != n {
		w.mu.Unlock()
		return nil
	}
	w.spoken++
	words := w.Case.Says[n].Words
	w.mu.Unlock()
	words.ID, words.At = fmt.Sprint("say-", n), looptest.Epoch
	if err := w.keepWords(words, n); err != nil {
		return err
	}
	if err := w.Hear(words); err != nil {
		return err
	}
	if words.Stop && !asked {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return nil
}

// saidAt returns which message is said in this model call or to the person of a question: the first time
// decides. A run that goes on elsewhere calls and asks again. w.mu is held.
func (w *World) saidAt(question string, n int) int {
	place, _, asked := strings.Cut(question, "-") // a redacted journal has another digest
	if !asked {
		place = fmt.Sprint("reply ", w.replied)
	}
	said, again := w.heard[place]
	if !again {
		w.heard[place] = n
		return n
	}
	return said
}

// mayHear reports whether the next reply is not one that ends the run.
func (w *World) mayHear() bool {
	return w.replied >= len(w.Case.Replies) || !w.Case.Replies[w.replied].Cancels
}

// keepWords notes a message, so that it is in the inbox after a crash. Before one it comes by Hear alone:
// what comes twice may stop two calls.
func (w *World) keepWords(words session.Words, n int) error {
	if len(w.Store.Text(w.Session.ID)) == 0 {
		return nil // the engine has no journal
	}
	body, err := json.Marshal(words)
	if err != nil {
		return err
	}
	i := journal.Item{Kind: journal.MessageItem, Key: words.ID, By: words.By, At: words.At, Body: body}
	return w.keepItem(i, n, time.Time{})
}

// textOfWords are what people and users say.
var textOfWords = []string{"", "Not today.", "Ask finance, " + wordsSecret, "{{.}}", marked, "Für Ærø\n"}
