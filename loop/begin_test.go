package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

type invoice struct {
	Amount int `json:"amount"`
}

func payTools(t *testing.T, pay func(context.Context, invoice) (string, error), opts ...tool.Option) *tool.Set {
	t.Helper()
	set, err := tool.NewSet(tool.New("pay", "Pay.", pay, opts...))
	require.NoError(t, err)
	return set
}

var inDoubt = "The call failed, and its effect may or may not have happened."

// The text of a tool's error never causes a retry, whatever the tool declares. The model does not see it.
func TestAToolIsNotRunAgainBecauseOfWords(t *testing.T) {
	accepted := errors.New("payment accepted, but reading the receipt failed: connection reset by peer")
	for name, declared := range map[string][]tool.Option{"undeclared": nil, "read-only": {tool.ReadOnly()}, "idempotent": {tool.Idempotent()}} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			tools := payTools(t, func(context.Context, invoice) (string, error) { runs++; return "", accepted }, declared...)
			model := looptest.NewModel(looptest.Call(call("pay", `{"amount":1}`)), looptest.Say("I could not find out."))
			_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			assert.Equal(t, 1, runs)
			told := inDoubt
			if name == "read-only" {
				told = "The call failed."
			}
			assert.Equal(t, told, model.Requests()[1].Last().Text)
		})
	}
}

// A typed fault is retried for declared tools only, under the tool's own transport policy.
func TestATypedFaultIsRetriedWhereTheToolIsDeclared(t *testing.T) {
	set := policy.DefaultSet()
	set.ToolTransport = map[string]policy.Layer{"pay": {MaxAttempts: new(3)}}
	for name, c := range map[string]struct {
		declared []tool.Option
		runs     int
		reason   policy.Reason
	}{"undeclared": {nil, 1, policy.ReasonNotRepeatable}, "idempotent": {[]tool.Option{tool.Idempotent()}, 3, policy.ReasonAttemptsExhausted}} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			tools := payTools(t, func(context.Context, invoice) (string, error) {
				runs++
				return "", &fault.TransportError{Cause: errors.New("down")}
			}, c.declared...)
			r, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("pay", `{"amount":1}`)), looptest.Say("Down.")), newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools, Policy: &set}, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err, "the run goes on")
			assert.Equal(t, c.runs, runs)
			assert.Equal(t, c.reason, r.Attempts[c.runs-1].Reason)
		})
	}
}

// If a budget is used up, the run ends, and its error has the tool's error in its chain.
func TestCallsThatFailUseUpTheBudget(t *testing.T) {
	locked := errors.New("the ledger is locked")
	tools := payTools(t, func(context.Context, invoice) (string, error) { return "", locked })
	again := looptest.Call(call("pay", `{"amount":1}`))
	_, err := fixture.Run(t.Context(), looptest.NewModel(again, again, again, again, again), newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, policy.ReasonToolBudget, exhausted.Reason)
	require.ErrorIs(t, err, locked)
	assert.Len(t, exhausted.Attempts, 5)
	assert.Equal(t, fault.ToolExecution, exhausted.Failure.Class)
}

func TestPanicsAskForNothing(t *testing.T) {
	for name, value := range map[string]any{"try later": tool.TryLater(nil, 0), "a fault": &fault.TransportError{}} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			tools := payTools(t, func(context.Context, invoice) (string, error) { runs++; panic(value) }, tool.Idempotent())
			_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("pay", `{"amount":1}`)), looptest.Say("No.")), newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			assert.Equal(t, 1, runs)
		})
	}
}

// A reducer that refuses the first result ends the run. With one tool at a time, no other has begun.
func TestNoToolBeginsOnceTheRunHasEnded(t *testing.T) {
	spent := session.StateSlice[string]("spent")
	for range 200 {
		s, err := session.New(session.Config{
			Slices: []session.Declared{spent},
			Reducers: []session.Reducer{session.On(spent, session.EventToolResult, "limit",
				func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
					return reducer.None[string](), errors.New("too much")
				})},
		})
		require.NoError(t, err)
		set, runs := policy.DefaultSet(), 0
		set.Global.OnReducerError = policy.ReducerStopsRun
		tools := payTools(t, func(context.Context, invoice) (string, error) { runs++; return "ok", nil })
		twice := looptest.Call(call("pay", `{"amount":1}`), call("pay", `{"amount":2}`))
		_, err = fixture.Run(t.Context(), looptest.NewModel(twice), s, loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools, Policy: &set}, loop.WithParallel(1))
		require.ErrorIs(t, err, policy.ReasonReducerError)
		require.Equal(t, 1, runs)
	}
}

// crashIn runs a payment with a journal and stops in the middle like a crash: nothing more is written.
func crashIn(t *testing.T, dir string, declared ...tool.Option) (key string) {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
	require.NoError(t, err)
	ctx, die := context.WithCancelCause(t.Context())
	tools := payTools(t, func(ctx context.Context, _ invoice) (string, error) {
		key = tool.IdempotencyKey(ctx)
		die(loop.ErrSuspended)
		return "", ctx.Err()
	}, declared...)
	_, err = fixture.Run(ctx, looptest.NewModel(looptest.Call(call("pay", `{"amount":1}`))), fixture.In(newSession(t), j), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
	require.ErrorIs(t, err, loop.ErrSuspended)
	require.NoError(t, j.Close())
	return key
}

// A call that began and has no outcome runs again only if its tool is declared, then and now.
func TestACallThatBeganIsRunAgainOnlyWhereItIsDeclared(t *testing.T) {
	none, idempotent := []tool.Option(nil), []tool.Option{tool.Idempotent()}
	for name, c := range map[string]struct {
		then, now []tool.Option
		compacted bool
		runs      int
	}{
		"never declared": {none, none, false, 0}, "declared since": {none, idempotent, false, 0}, "declared no more": {idempotent, none, false, 0},
		"declared": {idempotent, idempotent, false, 1}, "compacted": {none, none, true, 0}, "declared and compacted": {idempotent, idempotent, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			key := crashIn(t, dir, c.then...)
			if c.compacted {
				require.NoError(t, journal.Compact(t.Context(), journal.Dir(dir), "order-42", nil))
			}
			j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
			require.NoError(t, err)
			defer j.Close()
			var keys []string
			tools := payTools(t, func(ctx context.Context, _ invoice) (string, error) {
				keys = append(keys, tool.IdempotencyKey(ctx))
				return "paid", nil
			}, c.now...)
			model := looptest.NewModel(looptest.Call(call("pay", `{"amount":1}`)), looptest.Say("Done."))
			s, err := session.New(session.Config{})
			require.NoError(t, err)
			r, err := fixture.Resume(t.Context(), model, fixture.In(s, j), loop.Config{Tools: tools})
			require.NoError(t, err)
			assert.Len(t, keys, c.runs+1, "and once because the model asks for it")
			if c.runs == 0 {
				assert.Equal(t, []string{key}, keys, "the same arguments have the same key")
				last := model.Requests()[0].Last()
				assert.Equal(t, "The outcome of this call is not known: its effect may or may not have happened.", last.Text)
				assert.Equal(t, policy.ReasonOutcomeUnknown, r.Attempts[len(r.Attempts)-3].Reason)
			} else {
				assert.Equal(t, key, keys[0])
				assert.NotEqual(t, key, keys[1], "it has an outcome: the next is another payment")
			}
		})
	}
}

// A crash cut off the first try of a call. What its second says is no word about the first, unless it
// succeeds.
func TestASecondTryThatFailsAfterACrashLeavesTheFirstInDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		end      error
		readOnly bool
		told     string
	}{
		"fails":                  {tool.Fail("no money"), false, `The call failed, and its effect may or may not have happened. The tool says: "no money"`},
		"asks again":             {tool.AskAgain(fault.Issue{Pointer: "/amount", Rule: "free", Expected: "less"}), false, "Something that this call did may or may not have happened.\n"},
		"is not ready":           {tool.TryLater(nil, 0), false, "its effect may or may not have happened"},
		"succeeds":               {nil, false, "paid"},
		"fails, and only reads":  {tool.Fail("no money"), true, `The tool failed: "no money"`},
		"breaks, and only reads": {errors.New("no line"), true, "The call failed."},
	} {
		t.Run(name, func(t *testing.T) {
			dir, declared := t.TempDir(), tool.Idempotent()
			if c.readOnly {
				declared = tool.ReadOnly()
			}
			key := crashIn(t, dir, declared)
			j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
			require.NoError(t, err)
			defer j.Close()
			tools := payTools(t, func(context.Context, invoice) (string, error) { return "paid", c.end }, declared)
			model := looptest.NewModel(looptest.Say("Done."))
			r, err := fixture.Resume(t.Context(), model, fixture.In(newSession(t), j), loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			assert.Contains(t, model.Requests()[0].Last().Text, c.told)
			if c.readOnly || c.end == nil {
				assert.Empty(t, r.InDoubt)
			} else {
				assert.Equal(t, []machine.CallRef{{Tool: "pay", CallID: "c1", Key: key}}, r.InDoubt)
			}
		})
	}
}

// deaf is a store that refuses the note that a tool begins.
type deaf struct{ journal.Store }

type deafLog struct{ journal.Log }

func (d deaf) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := d.Store.Open(ctx, session)
	return deafLog{log}, err
}

func (l deafLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	if strings.Contains(string(lines), `"kind":"began"`) {
		return errors.New("no space left")
	}
	return l.Log.Append(ctx, at, lines, durable)
}

// A tool does not begin if its start cannot be recorded, unless the journal is optional.
func TestABeginThatCannotBeRecordedIsNone(t *testing.T) {
	for onError, runs := range map[journal.OnError]int{journal.StopRun: 0, journal.GoOn: 2} {
		t.Run(string(onError), func(t *testing.T) {
			j, err := journal.Open(t.Context(), deaf{journal.Dir(t.TempDir())}, "order-42", journal.Settings{OnError: onError})
			require.NoError(t, err)
			defer j.Close()
			ran := make(chan struct{}, 2)
			tools := payTools(t, func(context.Context, invoice) (string, error) { ran <- struct{}{}; return "ok", nil })
			twice := looptest.Call(call("pay", `{"amount":1}`), call("pay", `{"amount":2}`))
			_, err = fixture.Run(t.Context(), looptest.NewModel(twice, looptest.Say("Done.")), fixture.In(newSession(t), j), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
			assert.Equal(t, runs == 0, errors.Is(err, journal.ErrUnwritable), "%v", err)
			assert.Len(t, ran, runs)
		})
	}
}

// An engine with its own clock asks the runner before each call.
func TestARunnerSaysWhichCallsMayNotBeRun(t *testing.T) {
	dir := t.TempDir()
	crashIn(t, dir)
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	s, err := session.New(session.Config{})
	require.NoError(t, err)
	tools := payTools(t, func(context.Context, invoice) (string, error) { panic("it is not run") })
	r, next, err := fixture.ResumeRunner(fixture.In(s, j), loop.Config{Tools: tools})
	require.NoError(t, err)
	defer r.Close()
	out, err := r.ToolBegins(r.State().At, next.Tools[0])
	require.NoError(t, err)
	require.NotNil(t, out)
	assert.True(t, out.Unknown())
	effects, err := r.ToolEnded(r.State().At, next.Tools[0], *out)
	require.NoError(t, err)
	assert.Equal(t, machine.CallModel, effects[len(effects)-1].Kind)
}
