package dbos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/postgres/postgrestest"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// launched is a context with one agent.
func launched(t *testing.T, schema string, a Agent) (sdk.Context, *Registered) {
	c := contextOf(t, schema)
	r, err := Register(c, a)
	require.NoError(t, err)
	require.NoError(t, sdk.Launch(c))
	return c, r
}

// A run with a parallel batch, a correction and a wait ends as it does in process.
func TestARunEndsAsInProcess(t *testing.T) {
	a := booking(func(string) {}, func(string) {})
	c, r := launched(t, "one", a)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	got, err := run.Result()
	require.NoError(t, err)
	l, err := loop.New(a.Model, a.Config, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "order-42"})
	require.NoError(t, err)
	want, err := l.Run(t.Context(), s, loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	assert.Equal(t, want.Text, got.Text)
	assert.Equal(t, want.Transcript, got.Transcript)
	assert.Equal(t, len(want.Attempts), len(got.Attempts))
	assert.Equal(t, want.Waited, got.Waited)

	again, err := r.Start(c, "order-42", loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	joined, err := again.Result()
	require.NoError(t, err)
	assert.Equal(t, got, joined, "the same id is the same run")
}

// A workflow that is made again from its record calls nothing that is in it, and ends in the same state.
func TestARecordMakesTheSameRun(t *testing.T) {
	var calls atomic.Int32
	c, r := launched(t, "again", booking(func(place string) {
		if place == "model" || strings.HasSuffix(place, "before") {
			calls.Add(1)
		}
	}, func(string) {}))
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	want, err := run.h.GetResult()
	require.NoError(t, err)
	made := calls.Load()
	steps, err := sdk.GetWorkflowSteps(c, "order-42")
	require.NoError(t, err)
	fork, err := sdk.ForkWorkflow[string](c, sdk.ForkWorkflowInput{OriginalWorkflowID: "order-42",
		ForkedWorkflowID: "order-43", StartStep: uint(steps[len(steps)-1].StepID + 1)})
	require.NoError(t, err)
	got, err := fork.GetResult()
	require.NoError(t, err)
	digest := regexp.MustCompile(`"digest":"[0-9a-f]+"`) // the session's id counts in it
	assert.Equal(t, digest.ReplaceAllString(want, ""),
		digest.ReplaceAllString(strings.ReplaceAll(got, "order-43", "order-42"), ""))
	assert.Equal(t, made, calls.Load())
}

// A workflow that stopped after a call had begun does not make the call again, if its tool declares nothing.
func TestACallThatHasBegunIsInDoubt(t *testing.T) {
	var paid atomic.Int32
	c, r := launched(t, "doubt", booking(func(string) {}, func(what string) {
		if strings.HasPrefix(what, "pay") {
			paid.Add(1)
		}
	}))
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	_, err = run.Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, paid.Load())
	steps, err := sdk.GetWorkflowSteps(c, "order-42")
	require.NoError(t, err)
	begun := 0
	for begun = range steps {
		if steps[begun].StepName == "retake.begun" {
			break
		}
	}
	_, err = sdk.ForkWorkflow[string](c, sdk.ForkWorkflowInput{OriginalWorkflowID: "order-42",
		ForkedWorkflowID: "order-43", StartStep: uint(steps[begun].StepID + 1)})
	require.NoError(t, err)
	fork, err := Get(c, "order-43")
	require.NoError(t, err)
	result, err := fork.Result()
	require.NoError(t, err)
	assert.EqualValues(t, 1, paid.Load())
	require.Len(t, result.InDoubt, 1)
	assert.Equal(t, "pay", result.InDoubt[0].Tool)
}

// A call that may have begun before a crash is in doubt if its second try fails, as in process.
func TestACallThatFailsAfterACrashIsInDoubt(t *testing.T) {
	n := 0
	for name, tt := range map[string]struct {
		declared tool.Option
		doubts   int
		told     string
	}{
		"idempotent": {tool.Idempotent(), 1, `The call failed, and its effect may or may not have happened. The tool says: "no such file"`},
		"read only":  {tool.ReadOnly(), 0, `The tool failed: "no such file"`},
	} {
		t.Run(name, func(t *testing.T) {
			tools, err := tool.NewSet(tool.New("note", "Notes.", func(context.Context, struct{}) (string, error) {
				return "", tool.Fail("no such file")
			}, tt.declared))
			require.NoError(t, err)
			model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
				if len(r.Messages) == 1 {
					return message.Reply{Calls: []message.Call{{ID: "c1", Name: "note", Arguments: "{}"}}}, nil
				}
				return message.Reply{Text: "Done."}, nil
			})
			n++
			c, r := launched(t, fmt.Sprint("cutoff", n), Agent{Model: model, Config: loop.Config{Tools: tools}})
			run, err := r.Start(c, "order-42", loop.Input{Prompt: "Note it."})
			require.NoError(t, err)
			result, err := run.Result()
			require.NoError(t, err)
			assert.Equal(t, `The tool failed: "no such file"`, result.Transcript[2].Text, "without a crash it says that it did nothing")
			assert.Empty(t, result.InDoubt)
			steps, err := sdk.GetWorkflowSteps(c, "order-42")
			require.NoError(t, err)
			called := slices.IndexFunc(steps, func(s sdk.StepInfo) bool { return s.StepName == "retake.tool" })
			_, err = sdk.ForkWorkflow[string](c, sdk.ForkWorkflowInput{OriginalWorkflowID: "order-42",
				ForkedWorkflowID: "order-43", StartStep: uint(steps[called].StepID)})
			require.NoError(t, err)
			fork, err := Get(c, "order-43")
			require.NoError(t, err)
			result, err = fork.Result()
			require.NoError(t, err)
			assert.Equal(t, tt.told, result.Transcript[2].Text)
			assert.Len(t, result.InDoubt, tt.doubts)
		})
	}
}

// A failure of a model is a value in the record: the cause of the error is the recorded failure.
func TestAFailureIsRecorded(t *testing.T) {
	down := &fault.ProviderError{Class: fault.InvalidRequest, Message: "no key"}
	c, r := launched(t, "failure", Agent{Model: loop.ModelFunc(
		func(context.Context, loop.Request) (message.Reply, error) { return message.Reply{}, down })})
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	_, err = run.Result()
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	var recorded *fault.RecordedError
	require.ErrorAs(t, err, &recorded)
	assert.Equal(t, fault.InvalidRequest, recorded.Recorded.Class)
}

// An error of the code that makes prompts ends the run, and its text is that of the result's error.
func TestAnErrorOfUserCodeEndsTheRun(t *testing.T) {
	a := booking(func(string) {}, func(string) {})
	a.Prompt = func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
		return "", nil, errors.New("no prompt today")
	}
	c, r := launched(t, "broken", a)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	_, err = run.Result()
	var failed *RunError
	require.ErrorAs(t, err, &failed)
	assert.Contains(t, failed.Text, "no prompt today")
}

// What is not supported is refused at the start, by the name of its setting.
func TestWhatIsNotSupportedIsRefused(t *testing.T) {
	err := Agent{Session: session.Config{ID: "a", Seed: "b", Journal: new(journal.Journal)}, Parallel: -1,
		ToolTimeout: -1, ModelTimeout: -1, Name: "a b"}.Validate()
	for _, field := range []string{"model: ", "name: ", "parallel: ", "model_timeout: ", "tool_timeout: ",
		"session: id: ", "session: seed: ", "session: journal: "} {
		assert.ErrorContains(t, err, field)
	}
	c := contextOf(t, "refused")
	_, err = Register(c, Agent{})
	require.ErrorContains(t, err, "dbos: model: ")
	r, err := Register(c, booking(nil, nil))
	require.NoError(t, err)
	_, err = r.Start(c, "", loop.Input{Prompt: "Book."})
	require.ErrorContains(t, err, "id: ")
	_, err = r.Start(c, "a", loop.Input{})
	require.ErrorContains(t, err, "input: prompt: is empty")
}

// An agent is refused for what a loop is refused for: models that it does not have, and money without prices.
func TestAnAgentIsCheckedAsALoopIs(t *testing.T) {
	costs, big := policy.DefaultSet(), policy.DefaultSet()
	costs.Spending.Run.Cost = new(int64(1000))
	big.Global.PerAttempt = []policy.Settings{{Model: "big"}}
	for want, a := range map[string]Agent{
		"the model has no name to price it by": {Config: loop.Config{Policy: &costs}},
		"WithModels gives the models of a run": {Config: loop.Config{Policy: &big}},
		`models[0]: "big" is not one`:          {Planner: planner.Ladder{Models: []string{"big"}}},
	} {
		a.Model = looptest.NewModel()
		require.ErrorContains(t, a.Validate(), want)
	}
}

// named is a model that says what it is.
type named struct{ loop.Model }

func (named) Describe() machine.ModelInfo { return machine.ModelInfo{Name: "m"} }

// What a model says of itself has the price that its name has, unless the config says something else.
func TestAModelIsPricedByTheNameThatItHas(t *testing.T) {
	costs := policy.DefaultSet()
	costs.Spending.Run.Cost, costs.Prices = new(int64(1000)), policy.Prices{"m": {Input: 1, Output: 1}}
	a := Agent{Model: named{looptest.NewModel()}, Config: loop.Config{Policy: &costs}}
	require.NoError(t, a.Validate())
	cfg, err := a.machine(&costs)
	require.NoError(t, err)
	assert.Equal(t, "m", cfg.Models[""].Name)
	a.Config.Models = map[string]machine.ModelInfo{"": {Name: "other"}}
	cfg, err = a.machine(&costs)
	require.NoError(t, err)
	assert.Equal(t, "other", cfg.Models[""].Name)
}

// A process that shuts down loses no run: the next one takes it up.
func TestARunOutlivesAShutdown(t *testing.T) {
	asked := make(chan bool, 1)
	c, err := newContext(database(t), "shutdown")
	require.NoError(t, err)
	r, err := Register(c, Agent{Model: loop.ModelFunc(
		func(ctx context.Context, _ loop.Request) (message.Reply, error) {
			asked <- true
			<-ctx.Done()
			return message.Reply{}, ctx.Err()
		})})
	require.NoError(t, err)
	require.NoError(t, sdk.Launch(c))
	_, err = r.Start(c, "order-42", loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	<-asked
	require.NoError(t, sdk.Shutdown(c, time.Minute))

	next, _ := launched(t, "shutdown", Agent{Model: loop.ModelFunc(
		func(context.Context, loop.Request) (message.Reply, error) {
			return message.Reply{Text: "Booked."}, nil
		})})
	run, err := Get(next, "order-42")
	require.NoError(t, err)
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Booked.", result.Text)
	assert.Len(t, result.Attempts, 1, "the call that was cut off is no attempt")
}

// An agent whose tools are others than those of the run does not go on with it.
func TestOtherToolsAreRefused(t *testing.T) {
	a, err := newAgent(booking(nil, nil))
	require.NoError(t, err)
	order, err := a.order(loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	c := contextOf(t, "others")
	other, err := Register(c, Agent{Model: a.Model})
	require.NoError(t, err)
	require.NoError(t, sdk.Launch(c))
	h, err := sdk.RunWorkflow(c, other.run, order, sdk.WithRunInstance(other.agent))
	require.NoError(t, err)
	_, err = (&Run{h: h}).Result()
	var failed *RunError
	require.ErrorAs(t, err, &failed)
	assert.Contains(t, failed.Text, "the tools or the schema of the answer")
}

// A server that is killed and started again during a call loses no run, and the process goes on with it.
func TestARunOutlivesItsServer(t *testing.T) {
	database(t) // or there is none
	own, err := postgrestest.Start()
	require.NoError(t, err)
	t.Cleanup(func() { _ = own.Close() })
	c, err := newContext(own.URL(), "server")
	require.NoError(t, err)
	t.Cleanup(func() { _ = sdk.Shutdown(c, 10*time.Second) })
	a := booking(func(string) {}, func(string) {})
	model, asked, goOn, once := a.Model, make(chan bool), make(chan bool), sync.Once{}
	a.Model = loop.ModelFunc(func(ctx context.Context, r loop.Request) (message.Reply, error) {
		once.Do(func() { asked <- true; <-goOn })
		return model.Reply(ctx, r)
	})
	r, err := Register(c, a)
	require.NoError(t, err)
	require.NoError(t, sdk.Launch(c))
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	<-asked
	require.NoError(t, own.Kill())
	goOn <- true
	require.NoError(t, own.Restart())
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Booked.", result.Text)
	assert.Empty(t, result.InDoubt)
}

// dropped is a handle whose connection broke while it read the result.
type dropped struct{ sdk.WorkflowHandle[string] }

func (dropped) GetResult(...sdk.GetResultOption) (string, error) {
	return "", fmt.Errorf("failed to get workflow status: %w", io.ErrUnexpectedEOF)
}

func TestAResultIsReadAgainIfItsConnectionBreaks(t *testing.T) {
	c := contextOf(t, "dropped")
	r, err := Register(c, booking(func(string) {}, func(string) {}))
	require.NoError(t, err)
	require.NoError(t, sdk.Launch(c))
	run, err := r.Start(c, "order-dropped", loop.Input{Prompt: "Book it."})
	require.NoError(t, err)
	run.h = dropped{run.h}
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Booked.", result.Text)
}
