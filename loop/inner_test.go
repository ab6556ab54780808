package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// obedient is a model that calls pay once, and again whenever it is told to.
func obedient() loop.Model {
	return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		last := r.Messages[len(r.Messages)-1]
		told := last.Text + r.System
		if last.Role == message.Tool && !strings.Contains(strings.ToLower(told), "call pay again") {
			return message.Reply{Text: "Done.", Finish: message.Stop}, nil
		}
		return message.Reply{Calls: []message.Call{call("pay", `{}`)}, Finish: message.ToolUse}, nil
	})
}

// payBy runs an obedient model with one tool, and returns the result and what the model was told of the call.
func payBy(t *testing.T, pay *tool.Tool) (result loop.Result, told string) {
	t.Helper()
	tools, err := tool.NewSet(pay)
	require.NoError(t, err)
	result, err = fixture.Run(t.Context(), obedient(), newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	return result, result.Transcript[2].Text
}

const mayHaveHappened = "The call failed, and its effect may or may not have happened."

// What was said within a tool by a loop, a try or another tool is no word of the tool. The tool has run, so
// the model is not asked to call it again, and retake does not run it again either.
func TestOnlyAToolsOwnWordCounts(t *testing.T) {
	later := tool.TryLater(errors.New("the till is closed"), 0)
	timeout := &fault.TransportError{Class: fault.Timeout}
	issue := fault.Issue{Pointer: "/city", Rule: "known", Expected: "a city"}
	// innerRun is a run whose tool returns err for good.
	innerRun := func(err error) func(context.Context) error {
		return func(ctx context.Context) error {
			step := tool.New("step", "Step.", func(context.Context, struct{}) (string, error) { return "", err })
			tools, _ := tool.NewSet(step)
			set := policy.DefaultSet()
			set.MaxTurns = 3
			_, failed := fixture.Run(ctx, loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
				return message.Reply{Calls: []message.Call{call("step", `{}`)}, Finish: message.ToolUse}, nil
			}), nil, loop.Input{Prompt: "Step."}, loop.Config{Tools: tools, Policy: &set}, loop.WithClock(looptest.NewClock()))
			return failed
		}
	}
	innerDo := func(err error) func(context.Context) error {
		return func(ctx context.Context) error {
			_, failed := loop.Do(ctx, nil, loop.FinalAnswer(), func(context.Context, loop.Attempt) (int, error) { return 0, err },
				loop.WithClock(looptest.NewClock()))
			return failed
		}
	}
	returns := func(err error) func(context.Context) error {
		return func(context.Context) error { return err }
	}
	for name, inner := range map[string]func(context.Context) error{
		"generate": func(ctx context.Context) error {
			_, err := fixture.Generate[receipt](ctx, looptest.NewModel(looptest.Say("no"), looptest.Say("no"), looptest.Say("no")), nil, loop.Input{Prompt: "Write it."}, loop.Config{})
			return err
		},
		"run with bad arguments":   innerRun(&fault.ToolValidationError{Tool: "step", Issues: []fault.Issue{issue}}),
		"run that asks again":      innerRun(tool.AskAgain(issue)),
		"run that is to try later": innerRun(later),
		"run that times out": func(ctx context.Context) error {
			_, err := fixture.Run(ctx, loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) { return message.Reply{}, timeout }), nil, loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithClock(looptest.NewClock()))
			return err
		},
		"run without a prompt": func(ctx context.Context) error {
			_, err := fixture.Run(ctx, looptest.NewModel(), nil, loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithPrompt(
				func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
					return "", nil, later
				}))
			return err
		},
		"do with a bad answer":    innerDo(&fault.StructuredOutputError{Issues: []fault.Issue{issue}}),
		"do that is to try later": innerDo(later),
		"do that times out":       innerDo(timeout),
		"attempts": func(ctx context.Context) error {
			tries := loop.Attempts(ctx, nil, loop.FinalAnswer())
			for try := range tries.All() {
				try.End(tool.AskAgain(issue))
			}
			return tries.Err()
		},
		"another tool": func(ctx context.Context) error {
			return tool.New("till", "Open it.", func(context.Context, struct{}) (string, error) { return "", later }).Invoke(ctx, []byte(`{}`)).Err
		},
		"another tool, known by its type": func(ctx context.Context) error {
			out := tool.New("till", "Open it.", func(context.Context, struct{}) (string, error) { return "", later }).Invoke(ctx, []byte(`{}`))
			_, said := out.Later()
			require.True(t, said)
			return out.Err
		},
		"another tool that panics": func(ctx context.Context) error {
			return tool.New("till", "Open it.", func(context.Context, struct{}) (string, error) { panic(later) }).Invoke(ctx, []byte(`{}`)).Err
		},
		"bad arguments of nobody":  returns(&fault.ToolValidationError{Issues: []fault.Issue{issue}}),
		"bad arguments of another": returns(&fault.ToolValidationError{Tool: "mail", Issues: []fault.Issue{issue}}),
		"a bad answer":             returns(&fault.StructuredOutputError{Issues: []fault.Issue{issue}}),
		"a class for bad answers":  returns(&fault.ClassError{Class: fault.StructuredOutput, Issues: []fault.Issue{issue}}),
		"a reducer":                returns(&fault.ReducerError{Reducer: "sum", Message: "no"}),
	} {
		for how, wrap := range map[string]func(error) error{
			"":          func(err error) error { return err },
			" wrapped":  func(err error) error { return fmt.Errorf("paying: %w", err) },
			" together": func(err error) error { return errors.Join(errors.New("paid"), err) },
		} {
			for declared, want := range map[string]string{"": mayHaveHappened, " read-only": "The call failed."} {
				var opts []tool.Option
				if declared != "" {
					opts = append(opts, tool.ReadOnly())
				}
				t.Run(name+how+declared, func(t *testing.T) {
					paid := 0
					_, told := payBy(t, tool.New("pay", "Pay.", func(ctx context.Context, _ struct{}) (string, error) {
						paid++
						err := inner(ctx)
						require.Error(t, err)
						return "", wrap(err)
					}, opts...))
					assert.Equal(t, 1, paid)
					assert.Equal(t, want, told)
				})
			}
		}
	}
}

// Middleware may wrap what a tool says.
func TestAToolsWordMayBeWrapped(t *testing.T) {
	for name, c := range map[string]struct {
		word error
		want string
		runs int
	}{
		"ask again": {tool.AskAgain(fault.Issue{Pointer: "/x", Rule: "x", Expected: "y", Source: fault.FromSchema}), "the tool pay looked at your arguments and asks for others", 2},
		"fail":      {tool.Fail("no till"), `The tool failed: "no till"`, 1},
		"later":     {tool.TryLater(nil, time.Nanosecond), "result", 2},
		"unknown":   {tool.ErrUnknown, "The outcome of this call is not known: its effect may or may not have happened.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			_, told := payBy(t, tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) {
				if runs++; runs == 1 {
					return "", fmt.Errorf("audited: %w", fmt.Errorf("retried: %w", c.word))
				}
				return "result", nil
			}))
			assert.Equal(t, c.runs, runs)
			assert.Contains(t, told, c.want)
		})
	}
}

// A tool may stand in front of another of its name, and pass on what that says.
func TestAToolInFrontOfItsNamesakePassesItsWordOn(t *testing.T) {
	runs := 0
	inner := tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) {
		if runs++; runs == 1 {
			return "", tool.TryLater(nil, 0)
		}
		return "result", nil
	})
	outer, err := tool.Raw("pay", "Pay.", inner.Parameters(), func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		out := inner.Invoke(ctx, args)
		return out.Result, out.Err
	})
	require.NoError(t, err)
	_, told := payBy(t, outer)
	assert.Equal(t, 2, runs)
	assert.Equal(t, "result", told)
}

// The usage of runs within a tool is that of the outer run, too, whatever came of them.
func TestTheUsageOfAnInnerRunIsAddedToTheOuter(t *testing.T) {
	used := message.Usage{InputTokens: 100, OutputTokens: 10, APICalls: 1}
	inner := func() loop.Model {
		return loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			return message.Reply{Text: "no", Finish: message.Stop, Usage: used}, nil
		})
	}
	for name, c := range map[string]struct {
		pay  func(ctx context.Context) error
		want int64
	}{
		"run": {func(ctx context.Context) error {
			_, err := fixture.Run(ctx, inner(), nil, loop.Input{Prompt: "Go."}, loop.Config{})
			return err
		}, 1},
		"generate that fails": {func(ctx context.Context) error {
			_, err := fixture.Generate[receipt](ctx, inner(), nil, loop.Input{Prompt: "Go."}, loop.Config{})
			return err
		}, 3},
		"run within a try": {func(ctx context.Context) error {
			_, err := loop.Do(ctx, nil, loop.FinalAnswer(), func(ctx context.Context, _ loop.Attempt) (string, error) {
				r, err := fixture.Run(ctx, inner(), nil, loop.Input{Prompt: "Go."}, loop.Config{})
				return r.Text, err
			})
			return err
		}, 1},
		"run within a tool of a run": {func(ctx context.Context) error {
			deep := tool.New("deep", "Go deep.", func(ctx context.Context, _ struct{}) (string, error) {
				r, err := fixture.Run(ctx, inner(), nil, loop.Input{Prompt: "Go."}, loop.Config{})
				return r.Text, err
			})
			tools, _ := tool.NewSet(deep)
			turn := looptest.Call(call("deep", `{}`))
			turn.Reply.Usage = used
			_, err := fixture.Run(ctx, looptest.NewModel(turn, looptest.Say("Done.")), nil, loop.Input{Prompt: "Go."}, loop.Config{Tools: tools})
			return err
		}, 2},
		"elsewhere": {func(context.Context) error {
			_, err := fixture.Run(context.Background(), inner(), nil, loop.Input{Prompt: "Go."}, loop.Config{})
			return err
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := payBy(t, tool.New("pay", "Pay.", func(ctx context.Context, _ struct{}) (string, error) {
				return "paid", c.pay(ctx)
			}))
			want := message.Usage{InputTokens: 100 * c.want, OutputTokens: 10 * c.want, APICalls: c.want}
			assert.Equal(t, want, result.Usage)
			var sum message.Usage
			for _, a := range result.Attempts {
				sum = sum.Add(a.Usage)
			}
			assert.Equal(t, want, sum)
		})
	}
}

// The usage of runs within a try of Do with a session is that of the try: in its attempt, its error, and the
// run around it. A tool's own recording goes on around the try.
func TestTheUsageOfARunWithinATryIsThatOfTheTry(t *testing.T) {
	used := message.Usage{InputTokens: 100, OutputTokens: 10, APICalls: 1}
	twice := message.Usage{InputTokens: 200, OutputTokens: 20, APICalls: 2}
	inner := func(ctx context.Context) error {
		_, err := fixture.Run(ctx, loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			return message.Reply{Text: "no", Finish: message.Stop, Usage: used}, nil
		}), nil, loop.Input{Prompt: "Go."}, loop.Config{})
		return err
	}
	two := loop.FinalAnswer()
	two.Policy.MaxAttempts = 2
	try := func(ctx context.Context, s *session.Session, opts ...loop.Option) error {
		_, err := loop.Do(ctx, s, two, func(ctx context.Context, _ loop.Attempt) (string, error) {
			if err := inner(ctx); err != nil {
				return "", err
			}
			_ = tool.Progress(ctx, "tried")
			return "", &fault.StructuredOutputError{Issues: []fault.Issue{{Rule: "enum", Expected: "Lisbon"}}}
		}, append(opts, loop.WithClock(looptest.NewClock()))...)
		return err
	}
	s := newSession(t)
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, try(t.Context(), s), &exhausted)
	assert.Equal(t, twice, exhausted.Usage)
	for _, a := range s.State().Attempts() {
		assert.Equal(t, used, a.Usage)
	}
	require.ErrorAs(t, try(t.Context(), nil, loop.WithObserver(&follower{})), &exhausted)
	assert.Equal(t, twice, exhausted.Usage, "without a session, to an observer")

	var progress []string
	result, _ := payBy(t, tool.New("pay", "Pay.", func(ctx context.Context, _ struct{}) (string, error) {
		return "paid", try(ctx, newSession(t))
	}))
	assert.Equal(t, twice, result.Usage, "once, and not twice")
	out := tool.New("pay", "Pay.", func(ctx context.Context, _ struct{}) (string, error) { return "paid", try(ctx, newSession(t)) }).
		Invoke(tool.WithInvocation(t.Context(), tool.Invocation{Report: func(p []byte) { progress = append(progress, string(p)) }}), []byte(`{}`))
	assert.Equal(t, twice, out.Usage)
	assert.Equal(t, []string{`"tried"`, `"tried"`}, progress)
	require.ErrorIs(t, tool.AddUsage(t.Context(), used), tool.ErrNotInCall)
}

// What a try consumed is the outer run's, too, if the try panics or is cut off by the end of a context
// of the tool's own.
func TestTheUsageOfATryThatIsCutOffIsThatOfTheRunAroundIt(t *testing.T) {
	used := message.Usage{InputTokens: 100, OutputTokens: 10, APICalls: 1}
	inner := func(ctx context.Context) {
		_, _ = fixture.Run(ctx, loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			return message.Reply{Text: "no", Finish: message.Stop, Usage: used}, nil
		}), nil, loop.Input{Prompt: "Go."}, loop.Config{})
	}
	timed := loop.FinalAnswer()
	timed.Transport.ModelTimeout = time.Hour
	for name, cut := range map[string]func(end func()) error{
		"panic":  func(func()) error { panic("boom") },
		"cancel": func(end func()) error { end(); return io.EOF },
	} {
		for which, a := range map[string]*loop.Action{"plain": loop.FinalAnswer(), "timed": timed} {
			for who, s := range map[string]*session.Session{"session": newSession(t), "alone": nil} {
				t.Run(name+"/"+which+"/"+who, func(t *testing.T) {
					set, err := tool.NewSet(tool.New("look", "Looks.", func(ctx context.Context, _ struct{}) (int, error) {
						ctx, end := context.WithCancel(ctx)
						defer end()
						return loop.Do(ctx, s, a, func(ctx context.Context, _ loop.Attempt) (int, error) {
							inner(ctx)
							return 0, cut(end)
						}, loop.WithClock(looptest.NewClock()))
					}))
					require.NoError(t, err)
					model := looptest.NewModel(looptest.Call(call("look", `{}`)), looptest.Say("done"))
					r, err := fixture.Run(t.Context(), model, nil, loop.Input{Prompt: "Go."}, loop.Config{Tools: set})
					require.NoError(t, err)
					assert.Equal(t, used, r.Usage)
				})
			}
		}
	}
}

// dear is a model whose calls have a price.
type dear struct{}

func (dear) Describe() machine.ModelInfo { return machine.ModelInfo{Name: "dear"} }
func (dear) Reply(context.Context, loop.Request) (message.Reply, error) {
	return message.Reply{Text: "yes", Finish: message.Stop, Usage: message.Usage{InputTokens: 1000, APICalls: 1}}, nil
}

// What an inner run costs by its own prices is the outer run's, also if a try with a session stands between
// them.
func TestTheCostOfARunWithinATryIsThatOfTheCall(t *testing.T) {
	inner, outer := policy.DefaultSet(), policy.DefaultSet()
	inner.Prices, outer.Prices = policy.Prices{"dear": {Input: 5_000_000}}, policy.Prices{"outer": {Input: 7}}
	run := func(ctx context.Context) (int, error) {
		_, err := fixture.Run(ctx, dear{}, nil, loop.Input{Prompt: "Is it?"}, loop.Config{Policy: &inner})
		return 1, err
	}
	for name, work := range map[string]func(context.Context) (int, error){
		"in the call": run,
		"in a try": func(ctx context.Context) (int, error) {
			return loop.Do(ctx, fixture.NewSession(t), loop.FinalAnswer(), func(ctx context.Context, _ loop.Attempt) (int, error) {
				return run(ctx)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := tool.NewSet(tool.New("look", "Looks.", func(ctx context.Context, _ struct{}) (int, error) { return work(ctx) }))
			require.NoError(t, err)
			model := looptest.NewModel(looptest.Call(call("look", `{}`)), looptest.Say("done"))
			r, err := fixture.Run(t.Context(), model, nil, loop.Input{Prompt: "Go."}, loop.Config{Tools: set, Policy: &outer})
			require.NoError(t, err)
			assert.EqualValues(t, 5000, r.Cost)
			assert.Zero(t, r.Estimated)
			assert.EqualValues(t, 1000, r.Usage.InputTokens)
		})
	}
}
