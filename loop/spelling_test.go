package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// One amount may be spelt in several ways. A call in doubt that is made again has its key all the same, and
// the tool gets what was written.
func TestOneValueInTwoSpellingsHasOneKey(t *testing.T) {
	for name, c := range map[string]struct {
		first, second string
		same          bool
	}{
		"a point":        {`{"amount":100}`, `{"amount":100.0}`, true},
		"an exponent":    {`{"amount":1e2}`, `{"amount":100}`, true},
		"beyond a float": {`{"amount":9007199254740993}`, `{"amount":9007199254740992}`, false},
		"very large":     {`{"amount":1e300}`, `{"amount":10e299}`, true},
		"a string":       {`{"amount":"100"}`, `{"amount":"100.0"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			var keys, got []string
			pay, err := tool.Raw("pay", "Pay.", []byte(`{"type":"object"}`), func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
				keys, got = append(keys, tool.IdempotencyKey(ctx)), append(got, string(args))
				return nil, errors.New("reading the receipt failed")
			})
			require.NoError(t, err)
			tools, err := tool.NewSet(pay)
			require.NoError(t, err)
			both := looptest.NewModel(looptest.Call(call("pay", c.first)), looptest.Call(call("pay", c.second)), looptest.Say("Done."))
			_, err = fixture.Run(t.Context(), both, newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
			require.NoError(t, err)
			assert.Equal(t, []string{c.first, c.second}, got)
			require.Len(t, keys, 2)
			assert.Equal(t, c.same, keys[0] == keys[1])

			// In another session of the same id, the first call has the key of the other spelling.
			first := keys[0]
			keys, got = nil, nil
			_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("pay", c.second)), looptest.Say("Done.")), newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
			require.NoError(t, err)
			assert.Equal(t, c.same, keys[0] == first)
		})
	}
}

// The same mistake in another spelling is no progress.
func TestOneMistakeInTwoSpellingsIsNoProgress(t *testing.T) {
	pay, err := tool.Raw("pay", "Pay.", []byte(`{"type":"object"}`), func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return nil, tool.AskAgain(fault.Issue{Pointer: "/amount", Rule: "maximum", Expected: "at most 50"})
	})
	require.NoError(t, err)
	tools, err := tool.NewSet(pay)
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Global.NoProgress = new(1)
	s, err := session.New(session.Config{})
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("pay", `{"amount":100}`)), looptest.Call(call("pay", `{"amount":1.0e2}`))), s, loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools, Policy: &set})
	require.ErrorIs(t, err, policy.ReasonNoProgress)
}

// Equal calls are equal in all spellings of their numbers, whatever a journal leaves out: what is decided,
// and how often the tool runs, is the same, and the journal replays.
func TestOneValueInTwoSpellingsIsOneCall(t *testing.T) {
	spelt := []string{`{"amount":100}`, `{"amount":100.0}`, `{"amount":1e2}`, `{"amount":1.00e+2}`}
	pays := func(spellings ...string) (turns []looptest.Turn) {
		for _, s := range spellings {
			turns = append(turns, looptest.Call(call("pay", s)))
		}
		return append(turns, looptest.Say("Done."))
	}
	together := looptest.Call(call("pay", spelt[1]), message.Call{ID: "second", Name: "pay", Arguments: spelt[2]})
	refused := tool.AskAgain(fault.Issue{Pointer: "/amount", Rule: "maximum", Expected: "at most 50"})
	for name, c := range map[string]struct {
		layer  policy.Layer
		err    error
		turns  []looptest.Turn
		ran    int
		reason error
	}{
		"a cycle":              {turns: pays(slices.Repeat(spelt, 4)...), ran: 10, reason: policy.ReasonNoProgress},
		"a cycle by identity":  {layer: policy.Layer{Identity: []string{"amount"}}, turns: pays(slices.Repeat(spelt, 4)...), ran: 10, reason: policy.ReasonNoProgress},
		"in one reply":         {turns: []looptest.Turn{together, looptest.Say("Done.")}, ran: 1},
		"recorded":             {layer: policy.Layer{EqualCalls: policy.EqualRecorded}, turns: pays(spelt...), ran: 1},
		"refused":              {layer: policy.Layer{EqualCalls: policy.EqualRefuse}, turns: pays(spelt[:2]...), ran: 1},
		"a repeated mistake":   {layer: policy.Layer{NoProgress: new(1)}, err: refused, turns: pays(spelt...), ran: 2, reason: policy.ReasonNoProgress},
		"in doubt under a cap": {layer: policy.Layer{MaxSuccesses: new(1)}, err: errors.New("no receipt"), turns: pays(spelt[:2]...), ran: 2},
		"a poll":               {layer: policy.Layer{Polling: new(time.Hour)}, turns: pays(spelt...), ran: 4},
	} {
		var want []string // what is decided
		for kept, redact := range map[string]*journal.Redaction{
			"plain":   nil,
			"a place": {Tools: map[string]journal.ToolRedaction{"pay": {Arguments: []string{"/amount"}}}},
			"whole":   {Tools: map[string]journal.ToolRedaction{"*": {Arguments: []string{""}}}, Replies: true, Prompts: true},
		} {
			t.Run(name+"/"+kept, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ran := 0
					pay, err := tool.Raw("pay", "Pay.", []byte(`{"type":"object"}`), func(context.Context, json.RawMessage) (json.RawMessage, error) {
						ran++
						return json.RawMessage(`"paid"`), c.err
					}, tool.WithPolicy(c.layer))
					require.NoError(t, err)
					tools, err := tool.NewSet(pay)
					require.NoError(t, err)
					var store looptest.Store
					j, err := journal.Open(t.Context(), &store, "order-42", journal.Settings{Redact: redact})
					require.NoError(t, err)
					began := time.Now()
					_, err = fixture.Run(t.Context(), looptest.NewModel(c.turns...), fixture.In(nil, j), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
					if c.reason == nil {
						require.NoError(t, err)
					} else {
						require.ErrorIs(t, err, c.reason)
					}
					assert.Equal(t, c.ran, ran)
					if name == "a poll" {
						assert.Equal(t, 3*time.Hour, time.Since(began))
					}
					require.NoError(t, j.Close())
					_, err = journal.Replay(bytes.NewReader(store.Text("order-42")), nil)
					require.NoError(t, err)
					all := reasons(t, store.Text("order-42"))
					if want == nil {
						want = all
					}
					assert.Equal(t, want, all, "the journal says the same")
				})
			})
		}
	}
}
