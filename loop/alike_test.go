package loop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// written is a policy that was read from a file.
const written = `global:
  max_attempts: 3
  bases: {rate_limit: 7s}
tools:
  pay: {max_attempts: 2, emit_feedback: false}
  send_mail: {max_attempts: 2}
answer: {preset: result-envelope}
transport:
  max_attempts: 2
  backoff: {kind: constant, delay: 1s}
tool_transport:
  look: {max_attempts: 4}
budgets: {tool: 1}
`

// told is what a user reads of a run when it has ended.
type told struct {
	Warnings     []string
	InDoubt      []machine.CallRef
	ToolFailures []machine.ToolFailure
	Texts        []string // of the errors of tools
	Policy       policy.RetryPolicy
	Explanation  string
	Error        string
}

func tellOf(result loop.Result, err error) told {
	t := told{Warnings: result.Warnings, InDoubt: result.InDoubt}
	for _, f := range result.ToolFailures {
		t.ToolFailures, t.Texts = append(t.ToolFailures, f.ToolFailure), append(t.Texts, f.Err.Error())
	}
	if e, ok := errors.AsType[*loop.RetryExhaustedError](err); ok {
		now := *e
		now.Recorded = time.Time{} // what is read from the record says that it is
		t.Policy, t.Explanation, t.Error = now.Policy, now.Explanation.String(), now.Error()
	} else if err != nil {
		t.Error = err.Error()
	}
	return t
}

// alikeStory is a run that is to say the same of itself wherever it is driven and read.
type alikeStory struct {
	turns  []looptest.Turn
	adjust policy.Layer
	// tell says what must be there, so that equal omissions are found too.
	tell func(*testing.T, told)
}

func alikeStories(t *testing.T) map[string]alikeStory {
	raised, err := file.Read("raised.yaml", []byte("global:\n  max_attempts: 3\n"))
	require.NoError(t, err)
	paid := func(arguments string) looptest.Turn { return looptest.Call(call("pay", arguments)) }
	source := func(field, layer, at string) func(*testing.T, told) {
		return func(t *testing.T, got told) {
			assert.Regexp(t, "(?m)^"+field+" .* "+layer+" +"+at+"$", got.Explanation)
		}
	}
	return map[string]alikeStory{
		"a tool's policy":      {turns: repeated(3, paid(`{"sum":"x"}`)), tell: source("max_attempts", "tool pay", "policy.yaml:5:9")},
		"declared at the tool": {turns: repeated(3, paid(`{"sum":"x"}`)), tell: source("no_progress", "tool pay", "tool.WithPolicy")},
		"a policy for all":     {turns: repeated(3, paid(`{"sum":"x"}`)), tell: source("bases", "global", "policy.yaml:3:3")},
		"a preset":             {turns: repeated(12, looptest.Say("{}")), tell: source("max_attempts", "answer", "policy.yaml:7:10")},
		"models":               {turns: repeated(3, looptest.Fail(errBusy)), tell: source("max_attempts", "transport", "policy.yaml:9:3")},
		"calls":                {turns: repeated(9, looptest.Call(call("look", `{}`))), tell: source("max_attempts", "tool_transport look", "policy.yaml:12:10")},
		"adjusted in the run":  {turns: repeated(4, paid(`{"sum":"x"}`)), adjust: raised.Global, tell: source("max_attempts", "adjusted", "raised.yaml:2:3")},
		"calls that failed": {turns: []looptest.Turn{paid(`{"sum":1}`), looptest.Call(call("look", `{}`)), looptest.Say(`{"number":"R"}`)}, tell: func(t *testing.T, got told) {
			assert.Equal(t, []string{"policy: tools.send_mail: there is no such tool in this run",
				"tool pay failed: tool_execution (not_repeatable)", "tool look failed: unavailable (attempts_exhausted)"}, got.Warnings)
			assert.Len(t, got.InDoubt, 1, "look is read-only")
			assert.Len(t, got.ToolFailures, 2)
		}},
	}
}

// config is the config of the run, with its options but the journal.
func (c alikeStory) config(t *testing.T) (loop.Config, []loop.Option) {
	set, err := file.Read("policy.yaml", []byte(written))
	require.NoError(t, err)
	tools, err := tool.NewSet(
		tool.New("pay", "Pays.", func(context.Context, struct {
			Sum int `json:"sum"`
		}) (string, error) {
			return "", errors.New("no till")
		}, tool.WithPolicy(policy.Layer{MaxAttempts: new(9), NoProgress: new(9)})),
		tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) {
			return "", &fault.TransportError{Class: fault.Unavailable}
		}, tool.ReadOnly()))
	require.NoError(t, err)
	opts := []loop.Option{loop.WithClock(looptest.NewClock())}
	if !c.adjust.IsZero() {
		opts = append(opts, loop.WithAdjust(func(session.State) (policy.Layer, bool) { return c.adjust, true }))
	}
	typed, err := schema.For[receipt]()
	require.NoError(t, err)
	return loop.Config{Seed: "s", Policy: &set, Tools: tools, Output: typed.Schema()}, opts
}

// suspends ends the run at its n-th model call, as the end of a process does, and says the rest afterwards.
func suspends(n int, turns []looptest.Turn, cancel context.CancelCauseFunc) (first, rest loop.Model) {
	calls, scripted := 0, looptest.NewModel(turns...)
	return loop.ModelFunc(func(ctx context.Context, r loop.Request) (message.Reply, error) {
		if calls++; calls == n {
			cancel(loop.ErrSuspended)
			return message.Reply{}, ctx.Err()
		}
		return scripted.Reply(ctx, r)
	}), scripted
}

// What a run says of itself when it has ended is the same whether it was driven at once, resumed, driven by a
// pool or read from its record, also after other runs of the session and from a compacted journal.
func TestAllDriversTellTheSameOfARun(t *testing.T) {
	for name, c := range alikeStories(t) {
		t.Run(name, func(t *testing.T) {
			cfg, opts := c.config(t)
			result, err := fixture.Run(t.Context(), looptest.NewModel(c.turns...), newSessionNamed(t, "s"), loop.Input{Prompt: "Pay.", RequestID: "r"}, cfg, opts...)
			want := tellOf(result, err)
			c.tell(t, want)
			same := func(by string, result loop.Result, err error) {
				t.Helper()
				assert.Equal(t, want, tellOf(result, err), by)
			}

			store := &looptest.Store{}
			on := func(do func(*journal.Journal)) {
				t.Helper()
				j, err := journal.Open(t.Context(), store, "s", journal.Settings{})
				require.NoError(t, err)
				do(j)
				require.NoError(t, j.Close())
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			first, rest := suspends(2, c.turns, cancel)
			on(func(j *journal.Journal) {
				cfg, opts := c.config(t)
				_, err := fixture.Run(ctx, first, fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Pay.", RequestID: "r"}, cfg, opts...)
				require.ErrorIs(t, err, loop.ErrSuspended)
			})
			resume := func(by string, model loop.Model) {
				on(func(j *journal.Journal) {
					cfg, opts := c.config(t)
					result, err := fixture.Resume(t.Context(), model, fixture.In(newSessionNamed(t, "s"), j), cfg, opts...)
					same(by, result, err)
				})
			}
			resume("resumed", rest)
			resume("read by Resume", looptest.NewModel())
			read := func(by string) {
				on(func(j *journal.Journal) {
					cfg, opts := c.config(t)
					result, err := fixture.Run(t.Context(), looptest.NewModel(), fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Pay.", RequestID: "r"}, cfg, opts...)
					same(by, result, err)
				})
			}
			read("read by its request")
			on(func(j *journal.Journal) {
				s := newSessionNamed(t, "s")
				_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Hello.")), fixture.In(s, j), loop.Input{Prompt: "Hello.", RequestID: "other"}, loop.Config{})
				require.NoError(t, err)
			})
			read("read after another run")
			require.NoError(t, journal.Compact(t.Context(), store, "s", nil))
			read("read from a compacted journal")

			cfg, opts = c.config(t)
			pool, err := loop.NewPool(loop.PoolConfig{Model: looptest.NewModel(c.turns...), Config: cfg, Options: opts,
				Done: func(_ *session.Session, result loop.Result, err error) { same("pooled", result, err) }})
			require.NoError(t, err)
			_, err = pool.Add(newSessionNamed(t, "s"), loop.Input{Prompt: "Pay.", RequestID: "r"})
			require.NoError(t, err)
			require.NoError(t, pool.Run(t.Context(), 1))
		})
	}
}
