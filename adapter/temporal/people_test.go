package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// person has what updates said: nil for those that were taken.
type person struct {
	*bench
	told map[string]error
}

// does makes an update after a time.
func (p person) does(after time.Duration, id, update string, in func() any) {
	p.RegisterDelayedCallback(func() {
		told := &testsuite.TestUpdateCallback{
			OnReject:   func(err error) { p.told[id] = refusedAs(nil, err) },
			OnAccept:   func() {},
			OnComplete: func(_ any, err error) { p.told[id] = refusedAs(nil, err) },
		}
		p.UpdateWorkflow(update, id, told, in())
	}, after)
}

// answers answers the open question after a time, if there is one, and changes the answer before.
func (p person) answers(after time.Duration, id string, how func(*machine.Response)) {
	p.does(after, id, UpdateAnswer, func() any {
		answer := machine.Response{Verdict: machine.Approve, By: "Ann"}
		if open := query[Status](p.bench, QueryStatus).Asking; len(open) > 0 {
			answer.Question = open[0].ID
		}
		how(&answer)
		return over(answer)
	})
}

func asking(t *testing.T, w Worker, approval policy.Approval) person {
	set := policy.DefaultSet()
	set.Global.Approval = &approval
	return person{newBench(t, w, loop.Config{Policy: &set}), map[string]error{}}
}

// misfitIs reports an answer that was not taken, and why.
func misfitIs(t *testing.T, err, want error) {
	t.Helper()
	var misfit *machine.AnswerError
	require.ErrorAs(t, err, &misfit)
	require.ErrorIs(t, err, want)
}

// A call waits for a person, who changes its arguments. Answers that do not fit are told as in process, and
// change nothing.
func TestAPersonAnswersByUpdate(t *testing.T) {
	var ran []string
	tools := echo(t, func(_ context.Context, text string) (string, error) {
		ran = append(ran, text)
		return text, nil
	})
	model := looptest.NewModel(call("c1", `{"text":"Hi."}`), call("c2", `{"text":"Bye."}`), looptest.Say("Done."))
	p := asking(t, Worker{Model: model, Tools: tools}, policy.Approval{When: policy.ApproveAlways})
	first := ""
	p.answers(time.Hour, "other question", func(r *machine.Response) { first, r.Question = r.Question, "7.1.1-x" })
	p.answers(2*time.Hour, "other arguments", func(r *machine.Response) { r.Question = "1.1.1-x" })
	p.answers(3*time.Hour, "bad arguments", func(r *machine.Response) { r.Arguments = json.RawMessage(`{"text":7}`) })
	p.answers(4*time.Hour, "bad verdict", func(r *machine.Response) { r.Verdict = machine.WasDone })
	p.answers(5*time.Hour, "changes", func(r *machine.Response) { r.Arguments = json.RawMessage(`{"text":"Hello."}`) })
	p.answers(6*time.Hour, "answered", func(r *machine.Response) { r.Question = first })
	p.answers(7*time.Hour, "refuses", func(r *machine.Response) { r.Verdict, r.Words = machine.Refuse, "Stay." })
	r, err := p.run()
	require.NoError(t, err)
	require.Equal(t, []string{"Hello."}, ran)
	require.NoError(t, p.told["changes"])
	require.NoError(t, p.told["refuses"])
	misfitIs(t, p.told["other question"], machine.ErrNotAsked)
	misfitIs(t, p.told["other arguments"], machine.ErrOtherArguments)
	misfitIs(t, p.told["bad arguments"], machine.ErrMisfit)
	misfitIs(t, p.told["bad verdict"], machine.ErrMisfit)
	misfitIs(t, p.told["answered"], machine.ErrAnswered)
	var misfit *machine.AnswerError
	require.ErrorAs(t, p.told["bad arguments"], &misfit)
	require.Len(t, misfit.Issues, 1)
	assert.Contains(t, r.Transcript[len(r.Transcript)-2].Text, "Stay.")
	assert.Contains(t, r.Transcript[2].Text, "Hello.")
	assert.Zero(t, r.Waited, "a person's time is no wait of the policy")
}

// Two answers come at one instant: one is taken, and the other is told that there is one.
func TestTwoAnswersAtOneInstant(t *testing.T) {
	model := looptest.NewModel(call("c1", `{"text":"Hi."}`), looptest.Say("Done."))
	p := asking(t, Worker{Model: model, Tools: echo(t, say)}, policy.Approval{When: policy.ApproveAlways})
	p.answers(time.Hour, "one", func(*machine.Response) {})
	p.answers(time.Hour, "two", func(r *machine.Response) { r.Verdict = machine.Refuse })
	_, err := p.run()
	require.NoError(t, err)
	taken, refused := p.told["one"], p.told["two"]
	if taken != nil {
		taken, refused = refused, taken
	}
	require.NoError(t, taken)
	misfitIs(t, refused, machine.ErrAnswered)
}

// What nobody answers takes its default at the deadline, and an answer after that is too late.
func TestNobodyAnswersInTime(t *testing.T) {
	model := looptest.NewModel(call("c1", `{"text":"Hi."}`), call("c2", `{"text":"Ho."}`), looptest.Say("Done."))
	p := asking(t, Worker{Model: model, Tools: echo(t, say)}, policy.Approval{When: policy.ApproveAlways, Timeout: time.Hour})
	first := ""
	p.RegisterDelayedCallback(func() { first = query[Status](p.bench, QueryStatus).Asking[0].ID }, time.Minute)
	p.answers(90*time.Minute, "late", func(r *machine.Response) { r.Question = first })
	p.answers(100*time.Minute, "in time", func(*machine.Response) {})
	r, err := p.run()
	require.NoError(t, err)
	misfitIs(t, p.told["late"], machine.ErrTooLate)
	require.NoError(t, p.told["in time"])
	assert.Contains(t, r.Transcript[2].Text, "Not run")
	assert.Contains(t, r.Transcript[4].Text, "Ho.")
}

// A message enters before the next model call. One that stops leaves the call that is under way.
func TestAUserSpeaksToARun(t *testing.T) {
	asked := 0
	model := loop.ModelFunc(func(ctx context.Context, r loop.Request) (message.Reply, error) {
		asked++
		return message.Reply{Text: r.Messages[len(r.Messages)-1].Text, Finish: message.Stop}, nil
	})
	for name, c := range map[string]struct {
		stop  bool
		asked int
	}{"while the model thinks": {false, 2}, "and stops it": {true, 1}} {
		asked = 0
		p := person{newBench(t, Worker{Model: model}, loop.Config{}), map[string]error{}}
		slow := true
		p.OnActivity(p.agent.named("model"), anything, anything).AfterFn(func() time.Duration {
			if slow {
				slow = false
				return time.Hour
			}
			return 0
		}).Return(p.agent.callModel)
		words := session.Words{ID: "w1", Text: "Be brief.", By: "Ann", Stop: c.stop}
		p.does(time.Minute, "say", UpdateSay, func() any { return over(words) })
		p.does(2*time.Minute, "again", UpdateSay, func() any { return over(words) })
		p.does(30*time.Second, "empty", UpdateSay, func() any { return over(session.Words{}) })
		r, err := p.run()
		require.NoError(t, err, name)
		require.NoError(t, p.told["say"], name)
		require.NoError(t, p.told["again"], name)
		require.Error(t, p.told["empty"], name)
		assert.Equal(t, "Be brief.", r.Text, name)
		assert.Equal(t, c.asked, asked, name)
	}
}

// What is said at one instant with a message that stops a call enters before the call that is made in its
// place.
func TestTwoMessagesAtOneInstant(t *testing.T) {
	model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		return message.Reply{Text: r.Messages[len(r.Messages)-1].Text, Finish: message.Stop}, nil
	})
	p := person{newBench(t, Worker{Model: model}, loop.Config{}), map[string]error{}}
	slow, begun := true, p.Now()
	p.OnActivity(p.agent.named("model"), anything, anything).AfterFn(func() time.Duration {
		defer func() { slow = false }()
		if slow {
			return time.Hour
		}
		return 0
	}).Return(p.agent.callModel)
	for _, w := range []session.Words{{ID: "a", Text: "Stop.", Stop: true}, {ID: "b", Text: "Be brief."}} {
		p.does(time.Minute, w.ID, UpdateSay, func() any { return over(w) })
	}
	r, err := p.run()
	require.NoError(t, err)
	require.Len(t, p.told, 2)
	assert.Equal(t, "Be brief.", r.Text)
	assert.Less(t, p.Now().Sub(begun), time.Hour, "the call was left")
}

// A refusal is the same error at both ends of an update.
func TestARefusalIsToldAsItWas(t *testing.T) {
	refused := &machine.AnswerError{Question: "1.1.1-x", Err: machine.ErrMisfit, Why: "because"}
	for _, was := range []error{refused, session.ErrNotHeld, errors.New("another")} {
		assert.Equal(t, was, refusedAs(nil, refusalOf(was)))
	}
}
