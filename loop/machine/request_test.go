package machine_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// goodCall is a reply with one valid call.
func goodCall(arguments string) machine.Event {
	return machine.Event{Kind: machine.Replied, At: began, Reply: &machine.Reply{
		Message: message.Reply{Calls: []message.Call{{ID: "c1", Name: "book", Arguments: arguments}}}, Native: true,
		Calls: []machine.Call{{ID: "c1", Tool: "book", Raw: arguments, Arguments: json.RawMessage(arguments)}},
	}}
}

// keyAfter is the key of the call that the last event makes.
func keyAfter(t *testing.T, st machine.State, events ...machine.Event) string {
	t.Helper()
	return step(t, st, events...).Batch.Calls[0].Key
}

func says(texts ...string) machine.Event {
	ev := start()
	ev.Messages = nil
	for _, text := range texts {
		ev.Messages = append(ev.Messages, message.Message{Role: message.User, Text: text})
	}
	return ev
}

func TestAKeyStandsForWhatWasSaidWhenTheRunBegan(t *testing.T) {
	keys := map[string]string{}
	for _, texts := range [][]string{{}, {""}, {"Pay."}, {"Pay.", ""}, {"Pa", "y."}, {"Pay.", "Pay."}, {"Pay.2:"}} {
		key := keyAfter(t, fresh(t, machine.Config{}), says(texts...), goodCall("{}"))
		assert.Empty(t, keys[key], "%q", texts)
		keys[key] = strings.Join(texts, "|") + "."
		assert.Equal(t, key, keyAfter(t, fresh(t, machine.Config{}), says(texts...), badCall("required"), goodCall("{}")), "a retry keeps the key")
	}
	byID := keyAfter(t, fresh(t, machine.Config{RequestID: "r1"}), says("Pay."), goodCall("{}"))
	assert.Empty(t, keys[byID])
	assert.Equal(t, byID, keyAfter(t, fresh(t, machine.Config{RequestID: "r1"}), says("Pay now."), goodCall("{}")))
}

// The digest of the conversation in a state equals that from a snapshot.
func TestTheKeysOfALaterRunDoNotDependOnWhatIsRemembered(t *testing.T) {
	st := fresh(t, machine.Config{})
	for _, prompt := range []string{"One.", "Two.", "Three."} {
		called := step(t, st, says(prompt), goodCall("{}"))
		snap, err := st.Snapshot()
		require.NoError(t, err)
		restored, err := machine.Restore(snap)
		require.NoError(t, err)
		assert.Equal(t, called.Batch.Calls[0].Key, keyAfter(t, restored, says(prompt), goodCall("{}")))
		st = step(t, called, machine.Event{Kind: machine.Cancelled, At: began})
	}
}

// A run that continues a conversation has the same keys as one with the whole history, whatever was dropped
// meanwhile.
func TestARunThatGoesOnHasTheKeysOfOneThatSaysItsHistory(t *testing.T) {
	answer := func(text string) machine.Event {
		return machine.Event{Kind: machine.Replied, At: began, Reply: &machine.Reply{Message: message.Reply{Text: text}, Answer: &machine.Answer{}}}
	}
	for _, forgets := range []bool{false, true} {
		before := fresh(t, machine.Config{})
		for _, text := range []string{"One.", "Two.", "Three."} {
			whole := fresh(t, machine.Config{})
			ev := says(text)
			ev.Messages = append(slices.Clone(before.Transcript()), ev.Messages...)
			told := fresh(t, machine.Config{})
			told.GoOn(&before)
			if forgets {
				before.Forget(true)
				told = fresh(t, machine.Config{})
				told.GoOn(&before)
			}
			assert.Equal(t, keyAfter(t, whole, ev, goodCall("{}")), keyAfter(t, told, says(text), goodCall("{}")), "forgets %v", forgets)
			before = step(t, whole, ev, answer("And: "+text))
		}
	}
}

// An event that encoding/json stored has other bytes and the same meaning, once it is read with
// engine.Unmarshal.
func TestEventsKeptElsewhereLeadToTheSameStates(t *testing.T) {
	kept := func(ev machine.Event) machine.Event {
		raw, err := json.Marshal(ev)
		require.NoError(t, err)
		var back machine.Event
		require.NoError(t, engine.Unmarshal(raw, &back))
		return back
	}
	spaced := goodCall(`{"b":1, "a":"A&B <>"}`)
	failed := badCall("enum")
	failed.Reply.Calls[0].Arguments = json.RawMessage(`{"shop":"A&B"}`)
	done := machine.Event{Kind: machine.ToolEnded, At: began, Tool: &machine.ToolEnd{Verdict: machine.Done, Result: json.RawMessage(`{"shop":"A&B"}`)}}
	answer := machine.Event{Kind: machine.Replied, At: began, Reply: &machine.Reply{
		Message: message.Reply{Text: "A&B"}, Answer: &machine.Answer{Value: json.RawMessage(`"A&B"`)},
	}}
	plain, other := fresh(t, machine.Config{}), fresh(t, machine.Config{})
	for n, ev := range []machine.Event{start(), failed, failed, goodCall(`{"a":"A&B <>","b":1}`), done, answer} {
		again := kept(ev)
		if n == 3 {
			again = kept(spaced)
			again.Reply.Message, again.Reply.Calls[0].Raw = ev.Reply.Message, ev.Reply.Calls[0].Raw
		}
		var (
			fx, otherFx []machine.Effect
			err         error
		)
		fx, err = machine.Step(&plain, &ev)
		require.NoError(t, err)
		before, err := json.Marshal(again)
		require.NoError(t, err)
		otherFx, err = machine.Step(&other, &again)
		require.NoError(t, err)
		after, err := json.Marshal(again)
		require.NoError(t, err)
		assert.Equal(t, before, after, "the event is read-only")
		assert.Equal(t, fx, otherFx)
	}
	was, err := plain.Snapshot()
	require.NoError(t, err)
	is, err := other.Snapshot()
	require.NoError(t, err)
	assert.Equal(t, string(was), string(is))
}

func TestTheSumOfWaitsStopsAtTheLargestDuration(t *testing.T) {
	st := fresh(t, machine.Config{})
	delay, attempts := 200*365*24*time.Hour, 9
	set := *st.Policy
	constant := backoff.BackoffStrategy{Kind: backoff.KindConstant, Delay: delay}
	set.Global.Backoff, set.Global.MaxAttempts = &constant, &attempts
	cfg := *st.Config
	cfg.Policy = set
	st, err := machine.New(cfg, st.Session)
	require.NoError(t, err)
	st = step(t, st, start())
	for range 3 {
		failed := badCall("required")
		failed.At = st.At
		st = step(t, st, failed, machine.Event{Kind: machine.Woke, At: st.At.Add(delay)})
	}
	assert.Equal(t, time.Duration(math.MaxInt64), st.Waited)
	assert.Equal(t, st.Waited, st.Actions[0].Waited)
	st = step(t, st, machine.Event{Kind: machine.Cancelled, At: st.At})
	assert.Equal(t, st.Waited, st.Outcome.Waited)
}
