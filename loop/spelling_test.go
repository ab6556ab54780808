package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
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
