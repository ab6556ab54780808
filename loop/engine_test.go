package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// An engine that keeps the state itself has the same result as Run.
func TestAnEngineOfItsOwnComesToTheSame(t *testing.T) {
	notes := session.LogSlice[json.RawMessage]("notes")
	keep := session.On(notes, session.EventToolResult, "keep", func(_ reducer.View[json.RawMessage], e session.ToolResultEvent) (reducer.Change[json.RawMessage], error) {
		return reducer.Append(e.Result), nil
	})
	cfg := session.Config{ID: "s", Slices: []session.Declared{notes}, Reducers: []session.Reducer{keep}}
	tools, err := tool.NewSet(tool.New("echo", "Says it again.", func(_ context.Context, in struct{ Text string }) (string, error) { return in.Text, nil }))
	require.NoError(t, err)
	run := loop.Config{Tools: tools, Seed: "s"}
	call := looptest.Call(message.Call{ID: "c1", Name: "echo", Arguments: `{"Text":"a"}`})

	s, err := session.New(cfg)
	require.NoError(t, err)
	want, err := fixture.Run(t.Context(), looptest.NewModel(call, looptest.Say("Done.")), s, loop.Input{Prompt: "Hello."}, run, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)

	own, err := session.New(cfg)
	require.NoError(t, err)
	m, err := run.Machine()
	require.NoError(t, err)
	st, err := machine.New(m, own.State())
	require.NoError(t, err)
	step := func(ev machine.Event) machine.Effect {
		ev.At = looptest.Epoch
		effects, err := machine.Step(&st, &ev)
		require.NoError(t, err)
		return effects[len(effects)-1]
	}
	settings, on := engine.Settings(st.Policy), engine.Offer{Tools: tools}
	step(machine.Event{Kind: machine.Started, Messages: []message.Message{{Role: message.User, Text: "Hello."}}})
	asked := step(machine.Event{Kind: machine.Replied, Reply: engine.Read(call.Reply, on, "", settings)}).Tools[0]
	echo, _ := tools.Get("echo")
	out := echo.Invoke(t.Context(), asked.Arguments)
	reduced := func(ev machine.Event, emitted []session.Event) machine.Event {
		require.NoError(t, engine.Reducing(&st, &ev, emitted, nil, func(events []session.Event) (*machine.Reduced, error) {
			return engine.Reduce(own, st.Session, events), nil
		}))
		return ev
	}
	step(reduced(machine.Event{Kind: machine.ToolEnded, Tool: engine.EndOf(nil, asked, out)}, out.Events))
	stop := step(reduced(machine.Event{Kind: machine.Replied, Reply: engine.Read(looptest.Say("Done.").Reply, on, "", settings)}, nil))

	got, err := loop.ResultOf(engine.End{State: st}, nil)
	require.NoError(t, err)
	assert.Equal(t, want.Text, got.Text)
	assert.Equal(t, want.Transcript, got.Transcript)
	assert.Equal(t, s.State().Slices(), st.Session.Slices())
	assert.Equal(t, "echo", engine.Header(m, on).Tools[0].Name)
	assert.Equal(t, observe.Ended, observe.NoticesOf(&machine.State{}, looptest.Epoch, stop, nil)[0].Kind)
}

func TestPartsForEnginesSayWhatIsWrong(t *testing.T) {
	_, err := loop.Config{Consult: []fault.Class{fault.RateLimit}}.Machine()
	require.ErrorContains(t, err, "consult: ")
	_, err = loop.Config{System: "{{"}.Machine()
	require.ErrorContains(t, err, "system: ")
	_, err = loop.Config{}.Machine(loop.WithParallel(0))
	require.ErrorContains(t, err, "WithParallel")
	m, err := loop.ToolCall("book").Machine()
	require.NoError(t, err)
	assert.True(t, m.Single)
	assert.Equal(t, fault.Reducer, fault.FailureOf(&fault.ReducerError{Reducer: "r"}).Class)
	_, err = loop.ResultOf(engine.End{State: machine.State{Outcome: &machine.Outcome{Reason: "deadline"}}}, errors.New("why"))
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	require.ErrorContains(t, exhausted.Cause, "why")
}

// A reply is read as a runner reads it, even if its bytes are not UTF-8.
func TestReadMakesTextOfAReply(t *testing.T) {
	read := engine.Read(message.Reply{Text: "a\xffb"}, engine.Offer{}, "", tool.Settings{})
	assert.Equal(t, "a\uFFFDb", read.Message.Text)
}

// The values that an engine stores have one form and are read strictly, so nothing is lost.
func TestEnginesKeepValuesAsCanonicalJSON(t *testing.T) {
	type kept struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	written, err := engine.Marshal(kept{Name: "a<b", Args: json.RawMessage(`{"b": 1.50, "a": []}`)})
	require.NoError(t, err)
	assert.Equal(t, `{"args":{"a":[],"b":1.50},"name":"a<b"}`, string(written), "sorted, and numbers as they were written")

	var read kept
	require.NoError(t, engine.Unmarshal([]byte(`{"name": "a<b", "args": {"b": 1.50, "a": []}, "later": 1}`), &read))
	assert.Equal(t, `{"a":[],"b":1.50}`, string(read.Args), "raw parts are canonical")
	for text, want := range map[string]string{
		`{"name": "a", "name": "b"}`: "name", "{\"name\": \"\xff\"}": "invalid_utf8", `{} {}`: "trailing_data", `{"name": 1}`: "name",
	} {
		assert.ErrorContains(t, engine.Unmarshal([]byte(text), &read), want, "%s", text)
	}
	_, err = engine.Marshal(math.NaN())
	assert.Error(t, err)
}
