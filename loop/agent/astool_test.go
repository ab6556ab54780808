package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

const find = `{"task":"Find a room."}`

// set returns a set of tools.
func set(t *testing.T, tools ...*tool.Tool) *tool.Set {
	t.Helper()
	s, err := tool.NewSet(tools...)
	require.NoError(t, err)
	return s
}

// scout returns an agent as a tool.
func scout(t *testing.T, model loop.Model, cfg loop.Config) *tool.Tool {
	t.Helper()
	made, err := agent.AsTool("scout", "Finds rooms.", model, cfg)
	require.NoError(t, err)
	return made
}

// runOf runs a model with the tools in a session with a journal in store.
func runOf(t *testing.T, ctx context.Context, store journal.Store, model loop.Model, cfg loop.Config) (loop.Result, error) {
	t.Helper()
	j, err := journal.Open(context.Background(), store, "trip", journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{ID: "trip", Journal: j})
	require.NoError(t, err)
	l, err := loop.New(model, cfg, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	return l.Run(ctx, s, loop.Input{Prompt: "Go.", RequestID: "r1"})
}

// look is a tool of the agent.
func look(f func(context.Context) (string, error), opts ...tool.Option) *tool.Tool {
	return tool.New("look", "Looks.", func(ctx context.Context, _ struct{}) (string, error) { return f(ctx) }, opts...)
}

func found(context.Context) (string, error) { return "R-1", nil }

// eachUsed is what each reply of a test's models takes.
var eachUsed = message.Usage{InputTokens: 100, OutputTokens: 10, APICalls: 1}

// steps is a model that makes a call for each result that it has not, and then says what it has.
func steps(calls ...message.Call) loop.Model {
	return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		results := 0
		for _, m := range r.Messages {
			if m.Role == message.Tool {
				results++
			}
		}
		if results < len(calls) {
			return message.Reply{Calls: calls[results : results+1], Finish: message.ToolUse, Usage: eachUsed}, nil
		}
		return message.Reply{Text: r.Messages[len(r.Messages)-1].Text + " is free.", Finish: message.Stop, Usage: eachUsed}, nil
	})
}

func TestAnAgentIsAToolWithASessionOfItsOwn(t *testing.T) {
	store := new(looptest.Store)
	var id, key string
	tools := set(t, look(func(ctx context.Context) (string, error) {
		id, key = tool.SessionID(ctx), tool.IdempotencyKey(ctx)
		return "R-1", nil
	}))
	inner := scout(t, steps(fixture.Call("look", `{}`)), loop.Config{Tools: tools})
	r, err := runOf(t, t.Context(), store, steps(fixture.Call("scout", find)), loop.Config{Tools: set(t, inner)})
	require.NoError(t, err)
	assert.Equal(t, "R-1 is free.", r.Transcript[2].Text)
	assert.Equal(t, "trip.1.1.1", id)
	assert.NotEmpty(t, key)
	assert.Equal(t, int64(400), r.Usage.InputTokens, "two replies outside and two inside")
	ids, err := store.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"trip", "trip.1.1.1"}, ids)
}

// mortal is a store of a process that dies after some writes, to whichever journal.
type mortal struct {
	*looptest.Store
	left *atomic.Int64
}

func (m mortal) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := m.Store.Open(ctx, session)
	return mortalLog{log, m.left}, err
}

type mortalLog struct {
	journal.Log
	left *atomic.Int64
}

var errDied = errors.New("the process has died")

func (l mortalLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	if l.left.Add(-1) < 0 {
		return errDied
	}
	return l.Log.Append(ctx, at, lines, durable)
}

// partly is what a model is told of a call that ended and left something in doubt.
const partly = "Something that this call did may or may not have happened."

// saying counts the results that say something.
func saying(said []message.Message, text string) (n int) {
	for _, m := range said {
		if m.Role == message.Tool && strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}

// story is a run with agents, two deep, and its parts.
type story struct {
	store *looptest.Store
	// looked counts the calls of a tool that may have an effect, by key.
	mu     sync.Mutex
	looked map[string]int
}

// run makes or continues the run until the process dies.
func (s *story) run(t *testing.T, left int64) (loop.Result, error) {
	t.Helper()
	store := mortal{s.store, new(atomic.Int64)}
	store.left.Store(left)
	return s.runIn(t, store)
}

// runIn makes or continues the run with its journals in a store.
func (s *story) runIn(t *testing.T, store journal.Store) (loop.Result, error) {
	t.Helper()
	tools := set(t, look(func(ctx context.Context) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.looked[tool.IdempotencyKey(ctx)]++
		return "R-1", nil
	}))
	inner := loop.Config{Tools: set(t, scout(t, steps(fixture.Call("look", `{}`)), loop.Config{Tools: tools}))}
	guide, err := agent.AsTool("guide", "Guides.", steps(fixture.Call("scout", find)), inner)
	require.NoError(t, err)
	defer synctest.Wait() // a process that has died runs nothing any more
	return runOf(t, t.Context(), store, twoGuides, loop.Config{Tools: set(t, guide)})
}

// twoGuides is a model that asks for two agents at once, and then tells what they said.
var twoGuides = loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == message.User {
		second := fixture.Call("guide", `{"task":"Find another."}`)
		second.ID = "c2"
		return message.Reply{Calls: []message.Call{fixture.Call("guide", find), second}, Finish: message.ToolUse, Usage: eachUsed}, nil
	}
	return message.Reply{Text: last.Text, Finish: message.Stop, Usage: eachUsed}, nil
})

// A process may die at any write, inside or outside: the next one goes on inside, and nothing is done twice.
func TestAfterACrashTheRunGoesOnInside(t *testing.T) { synctest.Test(t, goesOnInside) }

func goesOnInside(t *testing.T) {
	whole := &story{store: new(looptest.Store), looked: map[string]int{}}
	want, err := whole.run(t, math.MaxInt64)
	require.NoError(t, err)
	require.Len(t, whole.looked, 2)
	for n := int64(0); ; n++ {
		s := &story{store: new(looptest.Store), looked: map[string]int{}}
		_, err := s.run(t, n)
		died := err != nil
		got, err := s.run(t, math.MaxInt64)
		require.NoError(t, err, "after write %d", n)
		s.toldAs(t, whole, want, got, n)
		if !died {
			assert.Greater(t, n, int64(20))
			return
		}
	}
}

// toldAs checks a story that went on after write n by one that was never left: nothing is done twice, and
// what is in doubt inside is so outside.
func (s *story) toldAs(t *testing.T, whole *story, want, got loop.Result, n int64) {
	t.Helper()
	doubts := saying(got.Transcript, "not known")
	if doubts == 0 {
		assert.Equal(t, want.Text, got.Text, "after write %d", n)
	}
	assert.Len(t, got.InDoubt, doubts, "after write %d", n)
	assert.Equal(t, doubts, saying(got.Transcript, partly), "after write %d", n)
	assert.Equal(t, want.Usage.InputTokens, got.Usage.InputTokens, "after write %d", n)
	for key, times := range s.looked {
		assert.Equal(t, 1, times, "after write %d", n)
		assert.Contains(t, whole.looked, key, "after write %d", n)
	}
}

// handing is a run whose model hands over to an agent, and then would say something of its own.
func (s *story) handing(t *testing.T, left int64) (loop.Result, error) {
	t.Helper()
	tools := set(t, look(func(ctx context.Context) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.looked[tool.IdempotencyKey(ctx)]++
		return "R-1", nil
	}))
	desk, err := agent.Handoff("desk", "Answers guests.", steps(fixture.Call("look", `{}`)), loop.Config{Tools: tools})
	require.NoError(t, err)
	store := mortal{s.store, new(atomic.Int64)}
	store.left.Store(left)
	return runOf(t, t.Context(), store, steps(fixture.Call("desk", find)), loop.Config{Tools: set(t, desk)})
}

// An agent that is handed the user answers, whichever write the process died at.
func TestAHandoffEndsTheRunWithTheAgentsAnswer(t *testing.T) {
	for n := int64(0); ; n++ {
		s := &story{store: new(looptest.Store), looked: map[string]int{}}
		_, err := s.handing(t, n)
		died := err != nil
		r, err := s.handing(t, math.MaxInt64)
		require.NoError(t, err, "after write %d", n)
		for key, times := range s.looked {
			assert.Equal(t, 1, times, "after write %d: %s", n, key)
		}
		doubts := strings.Contains(r.Text, "not known")
		assert.Equal(t, doubts, len(r.InDoubt) == 1, "after write %d", n)
		if !doubts {
			assert.Equal(t, "R-1 is free.", r.Text, "after write %d", n)
		}
		assert.Equal(t, int64(300), r.Usage.InputTokens, "after write %d: one reply outside, two inside", n)
		assert.Equal(t, []message.Role{message.User, message.Assistant, message.Tool, message.Assistant}, roles(r.Transcript))
		assert.Equal(t, r.Text, r.Transcript[3].Text)
		assert.Equal(t, 1, r.Turns)
		verifies(t, s.store, "trip")
		if !died {
			assert.Greater(t, n, int64(8))
			return
		}
	}
}

func roles(said []message.Message) (all []message.Role) {
	for n := range said {
		all = append(all, said[n].Role)
	}
	return all
}

// verifies replays a journal.
func verifies(t *testing.T, store *looptest.Store, session string) {
	t.Helper()
	_, err := journal.Replay(bytes.NewReader(store.Text(session)), nil)
	require.NoError(t, err)
}

// A handoff whose agent has no answer is a tool that failed: the model goes on and answers itself.
func TestAHandoffWithoutAnAnswerEndsNothing(t *testing.T) {
	one := policy.DefaultSet()
	one.MaxTurns = 1
	desk, err := agent.Handoff("desk", "Answers guests.", steps(fixture.Call("look", `{}`)),
		loop.Config{Policy: &one, Tools: set(t, look(found))})
	require.NoError(t, err)
	r, err := runOf(t, t.Context(), new(looptest.Store), steps(fixture.Call("desk", find)), loop.Config{Tools: set(t, desk)})
	require.NoError(t, err)
	assert.Contains(t, r.Text, "The agent came to no answer: the run's limit of model calls is reached. Its tools gave results: look.")
	assert.Equal(t, 2, r.Turns)
}

// An agent whose planner took its plain text has answered with that.
func TestTheTextOfADegradedAgentIsItsAnswer(t *testing.T) {
	typed, err := schema.For[struct {
		ID string `json:"id"`
	}]()
	require.NoError(t, err)
	said := looptest.Say("R-1 is free.")
	for _, made := range []func(string, string, loop.Model, loop.Config, ...loop.Option) (*tool.Tool, error){agent.AsTool, agent.Handoff} {
		desk, err := made("desk", "Answers guests.", looptest.NewModel(said, said, said),
			loop.Config{Output: typed.Schema()}, loop.WithPlanner(degrade.PlainText{}))
		require.NoError(t, err)
		r, err := runOf(t, t.Context(), new(looptest.Store), steps(fixture.Call("desk", find)), loop.Config{Tools: set(t, desk)})
		require.NoError(t, err)
		assert.Contains(t, r.Text, "R-1 is free.")
	}
}

// Who wants a structured answer gets one: the model is told what the agent said.
func TestAHandoffDoesNotBreakTheFormOfTheAnswer(t *testing.T) {
	type room struct {
		ID string `json:"id"`
	}
	typed, err := schema.For[room]()
	require.NoError(t, err)
	desk, err := agent.Handoff("desk", "Answers guests.", steps(), loop.Config{})
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(fixture.Call("desk", find)), looptest.Say(`{"id":"R-1"}`))
	r, err := runOf(t, t.Context(), new(looptest.Store), model, loop.Config{Tools: set(t, desk), Output: typed.Schema()})
	require.NoError(t, err)
	assert.Equal(t, "Find a room. is free.", r.Transcript[2].Text)
	assert.JSONEq(t, `{"id":"R-1"}`, string(r.Value))
	inner, err := agent.Handoff("desk", "Answers guests.", looptest.NewModel(looptest.Say(`{"id":"R-2"}`)), loop.Config{Output: typed.Schema()})
	require.NoError(t, err)
	r, err = runOf(t, t.Context(), new(looptest.Store), steps(fixture.Call("desk", find)), loop.Config{Tools: set(t, inner)})
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"R-2"}`, string(r.Value), "who wants none gets the agent's")
}

// Two runs of a conversation have two agents, though they call them at the same place.
func TestEachRunOfASessionHasAgentsOfItsOwn(t *testing.T) {
	store := new(looptest.Store)
	l, err := loop.New(handsOver, loop.Config{Tools: set(t, scout(t, steps(), loop.Config{}))}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	for n := range 3 { // of which the last two have the same process
		j, err := journal.Open(t.Context(), store, "trip", journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{ID: "trip", Journal: j})
		require.NoError(t, err)
		for m := range min(n+1, 2) {
			task := fmt.Sprintf("Room %d%d", n, m)
			r, err := l.Run(t.Context(), s, loop.Input{Prompt: task})
			require.NoError(t, err)
			assert.Equal(t, task+" is free.", r.Text)
		}
		require.NoError(t, j.Close())
	}
	ids, err := store.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"trip", "trip.1.1.1", "trip.2.1.1", "trip.3.1.1", "trip.4.1.1", "trip.5.1.1"}, ids)
	verifies(t, store, "trip")
}

// handsOver is a model that gives the agent what the user said last, and says what it says.
var handsOver = loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == message.Tool {
		return message.Reply{Text: last.Text, Finish: message.Stop, Usage: eachUsed}, nil
	}
	return message.Reply{Calls: []message.Call{fixture.Call("scout", fmt.Sprintf(`{"task":%q}`, last.Text))}, Finish: message.ToolUse, Usage: eachUsed}, nil
})

// What the model reads when an agent has come to no answer.
func TestAnAgentWithoutAnAnswerSaysWhatItHasDone(t *testing.T) {
	failing := func(err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return "", err }
	}
	one := policy.DefaultSet()
	one.MaxTurns = 1
	for name, c := range map[string]struct {
		look  *tool.Tool
		want  string
		doubt bool
	}{
		"nothing ran": {nil, `The tool failed: "The agent came to no answer: the run's limit of model calls is reached. None of its tools gave a result."`, false},
		"a result":    {look(found), `The tool failed: "The agent came to no answer: the run's limit of model calls is reached. Its tools gave results: look."`, false},
		"a failure":   {look(failing(tool.Fail("no"))), `The tool failed: "The agent came to no answer: the run's limit of model calls is reached. Failed: look."`, false},
		"a doubt": {look(failing(errors.New("secret"))), "The call failed, and its effect may or may not have happened. The tool says: " +
			`"The agent came to no answer: the run's limit of model calls is reached. Failed: look. May or may not have had an effect: look."`, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := loop.Config{Policy: &one}
			if c.look != nil {
				cfg.Tools = set(t, c.look)
			}
			inner := scout(t, steps(fixture.Call("look", `{}`), fixture.Call("look", `{}`)), cfg)
			r, err := runOf(t, t.Context(), new(looptest.Store), steps(fixture.Call("scout", find)), loop.Config{Tools: set(t, inner)})
			require.NoError(t, err)
			assert.Equal(t, c.want, r.Transcript[2].Text)
			assert.Equal(t, c.doubt, len(r.InDoubt) == 1)
			var x *loop.RetryExhaustedError
			require.ErrorAs(t, r.ToolFailures[0].Err, &x)
			assert.ErrorIs(t, x, policy.ReasonTurnLimit)
		})
	}
}

// A call in doubt that is made again is not a new run: it has the end of the one that the call made first.
func TestACallOfAnAgentInDoubtThatIsMadeAgainDoesNothing(t *testing.T) {
	looked := 0
	one := policy.DefaultSet()
	one.MaxTurns = 1
	inner := scout(t, steps(fixture.Call("look", `{}`), fixture.Call("look", `{}`)), loop.Config{Policy: &one, Tools: set(t, look(func(context.Context) (string, error) {
		looked++
		return "", errors.New("no answer")
	}))})
	store := new(looptest.Store)
	r, err := runOf(t, t.Context(), store, steps(fixture.Call("scout", find), fixture.Call("scout", find)), loop.Config{Tools: set(t, inner)})
	require.NoError(t, err)
	assert.Equal(t, 1, looked)
	assert.Equal(t, r.Transcript[2].Text, r.Transcript[4].Text)
	assert.Len(t, r.InDoubt, 1)
	assert.Equal(t, int64(400), r.Usage.InputTokens, "what the agent took is counted once")
	ids, err := store.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"trip", "trip.1.1.1"}, ids)
}

// An agent that has an answer may have left something in doubt: its call has the answer, and is in doubt.
func TestWhatAnAgentLeavesInDoubtIsInDoubtOutside(t *testing.T) {
	inner := scout(t, steps(fixture.Call("look", `{}`)), loop.Config{Tools: set(t, look(func(context.Context) (string, error) {
		return "", errors.New("no answer")
	}))})
	guide, err := agent.AsTool("guide", "Guides.", steps(fixture.Call("scout", find)), loop.Config{Tools: set(t, inner)})
	require.NoError(t, err)
	store := new(looptest.Store)
	for range 2 { // the second is told the recorded end
		r, err := runOf(t, t.Context(), store, steps(fixture.Call("guide", find)), loop.Config{Tools: set(t, guide)})
		require.NoError(t, err)
		require.Len(t, r.InDoubt, 1)
		assert.Equal(t, "guide", r.InDoubt[0].Tool)
		assert.Empty(t, r.ToolFailures)
	}
	for _, id := range []string{"trip", "trip.1.1.1"} {
		said := string(store.Text(id))
		assert.Contains(t, said, partly, id)
		run, err := journal.Last(t.Context(), store, id)
		require.NoError(t, err)
		assert.Equal(t, 1, run.Summary(false, looptest.NewClock().Now()).InDoubt, id)
		var shown strings.Builder
		require.NoError(t, report.Text(&shown, strings.NewReader(said), report.Style{Width: 200}))
		assert.Contains(t, shown.String(), "; something it did may or may not have happened", id)
		assert.Contains(t, shown.String(), "1 call in doubt: ", id)
		verifies(t, store, id)
	}
}

// A tool that runs an agent says what it likes: what is in doubt is in doubt.
func TestAToolCannotDenyWhatItsAgentLeftInDoubt(t *testing.T) {
	one := policy.DefaultSet()
	one.MaxTurns = 1
	own, err := loop.New(steps(fixture.Call("look", `{}`)), loop.Config{Policy: &one, Tools: set(t, look(func(context.Context) (string, error) {
		return "", errors.New("no answer")
	}))})
	require.NoError(t, err)
	for name, says := range map[string]error{
		"failed": tool.Fail("Nothing was done."), "asks again": tool.AskAgain(), "later": tool.TryLater(nil, 0),
	} {
		t.Run(name, func(t *testing.T) {
			denies := tool.New("scout", "Finds rooms.", func(ctx context.Context, _ struct{}) (string, error) {
				_, err := own.Within(ctx, loop.Input{Prompt: "Find a room."})
				require.Error(t, err)
				return "", says
			}, tool.Idempotent())
			r, err := runOf(t, t.Context(), new(looptest.Store), steps(fixture.Call("scout", `{}`)), loop.Config{Tools: set(t, denies)})
			require.NoError(t, err)
			assert.Len(t, r.InDoubt, 1)
			assert.NotContains(t, r.Transcript[2].Text, "Not done")
			assert.Contains(t, r.Transcript[2].Text, "may or may not have happened")
		})
	}
}

// An agent that has done something is never told as one that was not begun, whatever ended it.
func TestWhatEndedAnAgentDoesNotHideWhatItDid(t *testing.T) {
	none := policy.DefaultSet()
	none.Budgets.Tool = 0
	for name, cause := range map[string]error{"too deep": loop.ErrTooDeep, "held": &journal.ConflictError{}} {
		t.Run(name, func(t *testing.T) {
			inner := scout(t, steps(fixture.Call("look", `{}`)), loop.Config{Policy: &none, Tools: set(t, look(func(context.Context) (string, error) {
				return "", fmt.Errorf("paid, but: %w", cause)
			}))})
			r, err := runOf(t, t.Context(), new(looptest.Store), steps(fixture.Call("scout", find)), loop.Config{Tools: set(t, inner)})
			require.NoError(t, err)
			assert.Contains(t, r.Transcript[2].Text, "May or may not have had an effect: look.")
			assert.Len(t, r.InDoubt, 1)
		})
	}
}

// Another process may be at work in the agent: nobody here knows what it did.
func TestAnAgentThatAnotherProcessRunsIsInDoubt(t *testing.T) {
	store := new(looptest.Store)
	held, err := journal.Open(t.Context(), store, "trip.1.1.1", journal.Settings{})
	require.NoError(t, err)
	defer held.Close()
	inner := scout(t, steps(), loop.Config{Tools: set(t, look(found))})
	r, err := runOf(t, t.Context(), store, steps(fixture.Call("scout", find)), loop.Config{Tools: set(t, inner)})
	require.NoError(t, err)
	assert.Equal(t, "The call failed 4 times, and its effect may or may not have happened.", r.Transcript[2].Text)
	assert.Len(t, r.InDoubt, 1)
}

// An agent has what the run around it has left, divided among the calls of the reply.
func TestAnAgentIsBoundedByWhatIsLeft(t *testing.T) {
	bounded := policy.DefaultSet()
	bounded.Spending.Run.TotalTokens = new(int64(1000))
	free := loop.Config{Tools: set(t, look(found, tool.ReadOnly()))}
	guide, err := agent.AsTool("guide", "Guides.", steps(fixture.Call("look", `{}`), fixture.Call("look", `{}`), fixture.Call("look", `{}`),
		fixture.Call("look", `{}`), fixture.Call("look", `{}`)), free)
	require.NoError(t, err)
	store := new(looptest.Store)
	r, err := runOf(t, t.Context(), store, twoGuides, loop.Config{Tools: set(t, guide), Policy: &bounded})
	require.NoError(t, err)
	assert.Contains(t, r.Transcript[2].Text, "The agent came to no answer: the next call does not fit the budget of tokens")
	assert.Contains(t, string(store.Text("trip.1.1.2")), `"total_tokens":445`)
	assert.LessOrEqual(t, r.Usage.Total(), int64(1000))
}

// Agents of one reply have the same share, also those that begin when others have ended.
func TestAgentsOfOneReplyShareAlike(t *testing.T) {
	bounded := policy.DefaultSet()
	bounded.Spending.Run.TotalTokens = new(int64(6110))
	bounded.Spending.Action.TotalTokens = new(int64(5110))
	guide, err := agent.AsTool("guide", "Guides.", steps(), loop.Config{})
	require.NoError(t, err)
	const calls = loop.DefaultParallel + 2
	model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		if last := r.Messages[len(r.Messages)-1]; last.Role != message.User {
			return message.Reply{Text: last.Text, Finish: message.Stop, Usage: eachUsed}, nil
		}
		reply := message.Reply{Finish: message.ToolUse, Usage: eachUsed}
		for n := range calls {
			call := fixture.Call("guide", fmt.Sprintf(`{"task":"Find room %d."}`, n))
			call.ID = fmt.Sprint("c", n)
			reply.Calls = append(reply.Calls, call)
		}
		return reply, nil
	})
	store := new(looptest.Store)
	_, err = runOf(t, t.Context(), store, model, loop.Config{Tools: set(t, guide), Policy: &bounded})
	require.NoError(t, err)
	for n := 1; n <= calls; n++ {
		header, _, _ := strings.Cut(string(store.Text(fmt.Sprint("trip.1.1.", n))), "\n")
		assert.Contains(t, header, `"run":{"total_tokens":833}`, "call %d", n)
	}
}

func TestAgentsAreNestedOnlySoDeep(t *testing.T) {
	inner := scout(t, steps(), loop.Config{})
	for range 2 {
		inner = scout(t, steps(fixture.Call("scout", find)), loop.Config{Tools: set(t, inner)})
	}
	for deepest, want := range map[int]string{1: `is free. is free.`, 2: "Not done", 3: "Find a room. is free."} {
		r, err := runOf(t, t.Context(), new(looptest.Store), steps(fixture.Call("scout", find)), loop.Config{Tools: set(t, inner), MaxDepth: deepest})
		require.NoError(t, err)
		assert.Contains(t, r.Text, want)
	}
}

func TestAnAgentNeedsARunAroundIt(t *testing.T) {
	out := scout(t, steps(), loop.Config{}).Invoke(t.Context(), []byte(find))
	assert.ErrorIs(t, out.Err, loop.ErrNotWithin)
	for name, c := range map[string]struct {
		model loop.Model
		cfg   loop.Config
		want  string
	}{
		"no model":   {nil, loop.Config{}, `agent "scout": loop: the model is nil`},
		"calls only": {steps(), loop.Config{CallsOnly: true}, `agent "scout": calls_only: nobody runs the calls`},
		"no depth":   {steps(), loop.Config{MaxDepth: -1}, `agent "scout": max_depth: -1: give 1 or more, or 0 for 4`},
	} {
		_, err := agent.AsTool("scout", "Finds rooms.", c.model, c.cfg)
		assert.ErrorContains(t, err, c.want, name)
	}
}

// What an agent has done is not forgotten before the run around it has ended: a call that is made again after
// a crash is told the recorded end.
func TestAnAgentIsNotPrunedBeforeTheRunAroundIt(t *testing.T) {
	for _, id := range []string{"trip", strings.Repeat("z", 128)} { // a long id is a digest in that of the agent
		dir, looked := journal.Dir(t.TempDir()), 0
		inner := scout(t, steps(fixture.Call("look", `{}`)), loop.Config{Tools: set(t, look(func(context.Context) (string, error) {
			looked++
			return "R-1", nil
		}))})
		run := func() {
			j, err := journal.Open(t.Context(), dir, id, journal.Settings{})
			require.NoError(t, err)
			defer j.Close()
			s, err := session.New(session.Config{Journal: j})
			require.NoError(t, err)
			l, err := loop.New(steps(fixture.Call("scout", find)), loop.Config{Tools: set(t, inner)}, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			_, err = l.Run(t.Context(), s, loop.Input{Prompt: "Go.", RequestID: "r1"})
			require.NoError(t, err)
		}
		prune := func() (gone int) {
			require.NoError(t, journal.Prune(t.Context(), dir, journal.Retention{Older: time.Hour}, looptest.Epoch.Add(1000*time.Hour), func(p journal.Pruned) bool {
				require.NoError(t, p.Err)
				gone++
				return true
			}))
			return gone
		}
		run()
		file := filepath.Join(string(dir), journal.FileName(id))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		end := bytes.Index(text, []byte(`"kind":"tool_ended"`))
		require.Positive(t, end)
		require.NoError(t, os.WriteFile(file, text[:bytes.LastIndexByte(text[:end], '\n')+1], 0o600))
		require.Zero(t, prune())
		run()
		assert.Equal(t, 1, looked)
		assert.Equal(t, 2, prune())
	}
}

// An agent that cannot be priced begins nothing under a run whose money is bounded: its call is not in doubt.
func TestAnAgentWithoutAPriceDoesNothingUnderABoundOfMoney(t *testing.T) {
	bounded := policy.DefaultSet()
	bounded.Prices = policy.Prices{"m": {Input: 1_000_000, Output: 2_000_000}}
	bounded.Spending.Run.Cost = new(int64(1_000_000))
	asked := 0
	within := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		asked++
		return message.Reply{Text: "R-1", Finish: message.Stop}, nil
	})
	cfg := loop.Config{Policy: &bounded, Tools: set(t, scout(t, within, loop.Config{})), Models: map[string]machine.ModelInfo{"": {Name: "m"}}}
	r, err := runOf(t, t.Context(), &looptest.Store{}, steps(message.Call{ID: "c1", Name: "scout", Arguments: find}), cfg)
	require.NoError(t, err)
	assert.Zero(t, asked)
	assert.Empty(t, r.InDoubt)
	require.Len(t, r.ToolFailures, 1)
	assert.Equal(t, "The agent came to no answer: the next call does not fit the budget of money. None of its tools gave a result.", r.ToolFailures[0].Text)
}

// A second run within a call would have the session, the request and the keys of the first.
func TestARunWithinACallIsMadeOnce(t *testing.T) {
	own, err := loop.New(steps(), loop.Config{})
	require.NoError(t, err)
	var once, twice error
	scout := tool.New("scout", "Finds rooms.", func(ctx context.Context, _ struct{}) (string, error) {
		_, once = own.Within(ctx, loop.Input{Prompt: "Find a room."})
		_, twice = own.Within(ctx, loop.Input{Prompt: "Find another."})
		return "one", nil
	})
	r, err := fixture.Run(t.Context(), steps(fixture.Call("scout", `{}`)), fixture.NewSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: set(t, scout)})
	require.NoError(t, err)
	require.NoError(t, once)
	require.EqualError(t, twice, "loop: a run was made within this call: make one a call, or give the agents a tool each")
	assert.Empty(t, r.InDoubt)
}
