package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Where the ladder would give up a person sees what was wrong, and may give the model a hint. The model,
// which was told that no attempt is left, learns that it may try again. One who ends the run gives it the
// error that it would have had.
func TestAPersonSaysWhatFollowsAnExhaustion(t *testing.T) {
	one := policy.DefaultSet()
	one.Answer.MaxAttempts = new(1)
	ladder := planner.Ladder{}
	ladder.Ask = time.Hour
	for verdict, replies := range map[machine.Ruling][]looptest.Turn{
		machine.GoOn:   {looptest.Say("R-1"), looptest.Say(`{"number":"R-1"}`)},
		machine.EndRun: {looptest.Say("R-1")},
	} {
		var asked loop.PersonQuestion
		approver := func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
			asked = q
			r := machine.Response{Verdict: verdict}
			if verdict == machine.GoOn {
				r.Words = "Write it as JSON."
			}
			return r, nil
		}
		model := looptest.NewModel(replies...)
		answer, err := fixture.Generate[receipt](t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Policy: &one},
			loop.WithPlanner(ladder), loop.WithApprover(approver), loop.WithClock(looptest.NewClock()))
		assert.Equal(t, machine.AskExhausted, asked.Kind)
		assert.Equal(t, policy.ReasonAttemptsExhausted, asked.Reason)
		assert.NotEmpty(t, asked.Failure.Issues)
		assert.Equal(t, looptest.Epoch.Add(time.Hour), asked.Deadline)
		if verdict == machine.GoOn {
			require.NoError(t, err)
			assert.Equal(t, "R-1", answer.Value.Number)
			told := model.Requests()[1].Messages
			require.Len(t, told, 5)
			assert.Contains(t, told[2].Text, "No attempt is left.")
			assert.Contains(t, told[3].Text, "a person has looked at this since, and lets you go on, with 1 new attempt.")
			assert.Equal(t, "Write it as JSON.", told[4].Text)
			continue
		}
		var bad *fault.StructuredOutputError
		require.ErrorAs(t, err, &bad)
		require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	}
}

// A call of the model that a person gave new attempts may be exhausted again, in the same turn. That is
// another question: an answer to the first does not fit it, and it takes one of its own.
func TestACallThatIsExhaustedAgainIsAnotherQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := policy.DefaultSet()
		set.Global.Approval = &policy.Approval{Exhausted: policy.ExhaustedAsk}
		gone := looptest.Fail(&fault.ProviderError{Class: fault.Auth, Provider: "example", Message: "bad key"})
		var asked []string
		approver := func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
			asked = append(asked, q.ID)
			return machine.Response{}, nil
		}
		l, err := loop.New(looptest.NewModel(gone, gone, gone, looptest.Say("Done.")), loop.Config{Policy: &set},
			loop.WithApprover(approver))
		require.NoError(t, err)
		s, done := newSession(t), make(chan error, 1)
		go func() {
			_, err := l.Run(t.Context(), s, loop.Input{Prompt: "Book."})
			done <- err
		}()
		for n := range 3 {
			synctest.Wait()
			require.Len(t, asked, n+1)
			if n > 0 {
				again := machine.Response{Question: asked[n-1], Verdict: machine.EndRun}
				require.ErrorIs(t, l.Answer(s.ID(), again), machine.ErrAnswered)
			}
			require.NoError(t, l.Answer(s.ID(), machine.Response{Question: asked[n], Verdict: machine.GoOn}))
		}
		require.NoError(t, <-done)
	})
}

// A policy that is adjusted at an answer is adjusted before it, and takes time: the answer comes after that.
func TestAnAnswerComesAfterTheAdjustmentOfThePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := policy.DefaultSet()
		set.Global.Approval = &policy.Approval{Exhausted: policy.ExhaustedAsk}
		gone := looptest.Fail(&fault.ProviderError{Class: fault.Auth, Provider: "example", Message: "bad key"})
		approver := func(context.Context, loop.PersonQuestion) (machine.Response, error) {
			return machine.Response{Verdict: machine.GoOn}, nil
		}
		adjusted := 0
		adjust := func(session.State) (policy.Layer, bool) {
			time.Sleep(time.Millisecond)
			adjusted++
			return policy.Layer{MaxAttempts: new(adjusted)}, true
		}
		_, err := fixture.Run(t.Context(), looptest.NewModel(gone, looptest.Say("Done.")), newSession(t), loop.Input{Prompt: "Book."},
			loop.Config{Policy: &set}, loop.WithApprover(approver), loop.WithAdjust(adjust))
		require.NoError(t, err)
	})
}

// A message that stops leaves the question open: it is about no call that could be taken back.
func TestAMessageLeavesAnExhaustionToPeople(t *testing.T) {
	one := policy.DefaultSet()
	one.Answer.MaxAttempts = new(1)
	ladder := planner.Ladder{}
	ladder.Ask = time.Hour
	s := newSession(t)
	approver := func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		return machine.Response{}, s.Say(session.Words{Text: "Hurry.", Stop: true})
	}
	clock := looptest.NewClock()
	_, err := fixture.Generate[receipt](t.Context(), looptest.NewModel(looptest.Say("R-1")), s, loop.Input{Prompt: "Book."}, loop.Config{Policy: &one},
		loop.WithPlanner(ladder), loop.WithApprover(approver), loop.WithClock(clock))
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	assert.Equal(t, looptest.Epoch.Add(time.Hour), clock.Now())
}

// A person corrects the call that was not accepted: it is made as they say, with a key of its own, and the
// model is told who did so. What a redaction leaves out of the tool's arguments is nowhere in the journal, be
// it the model's or the person's, nor are their words; and the question can be answered by the id that the
// journal has.
func TestAPersonCorrectsACallInARedactedJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		dir := journal.Dir(t.TempDir())
		settings := journal.Settings{Redact: &journal.Redaction{Tools: map[string]journal.ToolRedaction{"pay": {Arguments: []string{"/to"}, Result: []string{""}}},
			Prompts: true, Transcripts: &kept{texts: map[string]string{}}}}
		j, err := journal.Open(t.Context(), dir, "order-42", settings)
		require.NoError(t, err)
		cfg, set := made.config(t), policy.DefaultSet()
		set.Global.MaxAttempts, set.Global.Approval = new(1), &policy.Approval{Exhausted: policy.ExhaustedAsk}
		cfg.Policy = &set
		model := looptest.NewModel(payCall("c1", `{"to":"Annabel","amount":0}`), payCall("c2", `{"to":"Annabel","amount":0}`),
			looptest.Say("Done."))
		pool, _ := pooled(t, loop.PoolConfig{Model: model, Config: cfg})
		_, err = pool.Add(fixture.In(newSession(t), j), loop.Input{Prompt: "Pay somebody."})
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- pool.Run(t.Context(), 1) }()
		for n, answer := range []machine.Response{
			{Words: "hush"},
			{Arguments: json.RawMessage(`{"to":"Secretia","amount":7}`)},
		} {
			synctest.Wait()
			_, id, asked := strings.Cut(lines(t, dir), fmt.Sprintf(`"id":"1.%d.1-`, n+1))
			require.True(t, asked)
			answer.Question, answer.Verdict = fmt.Sprintf("1.%d.1-%s", n+1, id[:32]), machine.GoOn
			require.NoError(t, pool.Answer("order-42", answer))
		}
		require.NoError(t, <-done)
		assert.Equal(t, []transfer{{"Secretia", 7}}, made.calls)
		told := model.Requests()[2].Messages
		last := told[len(told)-1]
		assert.Equal(t, message.Tool, last.Role)
		assert.False(t, last.IsError)
		assert.Contains(t, last.Text, "This call was not accepted, and a person corrected its arguments, to")
		assert.True(t, strings.HasSuffix(last.Text, "\n"+`{"paid":7}`), last.Text)
		require.NoError(t, j.Close())
		text := lines(t, dir)
		for _, hidden := range []string{"Secretia", "Annabel", "hush"} {
			assert.NotContains(t, text, hidden)
		}
		j, err = journal.Open(t.Context(), dir, "order-42", settings)
		require.NoError(t, err, "what was left out is found again")
		require.NoError(t, j.Close())
		_, err = journal.Replay(strings.NewReader(text), nil)
		require.NoError(t, err)
	})
}
