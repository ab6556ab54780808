package loop_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/tool"
)

// counted counts how often a value is read.
type counted struct{ text string }

var reads atomic.Int64

func (c *counted) UnmarshalText(text []byte) error {
	reads.Add(1)
	c.text = string(text)
	return nil
}

// spelled keeps how it was written.
type spelled struct{ text string }

func (w *spelled) UnmarshalJSON(text []byte) error {
	reads.Add(1)
	w.text = string(text)
	return nil
}

type visit struct {
	Room   counted  `json:"room"`
	Guests []string `json:"guests"`
	Note   spelled  `json:"note"`
}

// What a check has decoded is what the tool and the caller get. A call that is made again has a value of its
// own, because a tool may change what it got.
func TestArgumentsAndAnswersAreDecodedOnce(t *testing.T) {
	_, err := tool.NewSet(tool.New("warm_up", "", func(context.Context, visit) (string, error) { return "", nil }))
	require.NoError(t, err)
	var got []string
	visits := tool.New("visit", "Visits a room.", func(_ context.Context, v visit) (string, error) {
		got = append(got, v.Room.text+" "+v.Guests[0]+" "+v.Note.text)
		v.Guests[0] = "nobody"
		if len(got) == 1 {
			return "", &fault.TransportError{Class: fault.Network}
		}
		return "Seen.", nil
	}, tool.ReadOnly())
	set, err := tool.NewSet(visits)
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(call("visit", `{"room":"red","guests":["Ada"],"note":{ "b":1,"a":"\u0061" }}`)), looptest.Say(`{"room":"blue","guests":["Bo"],"note":[ ]}`))
	reads.Store(0)
	answer, err := fixture.Generate[visit](t.Context(), model, nil, loop.Input{Prompt: "Visit."}, loop.Config{Tools: set})
	require.NoError(t, err)
	assert.Equal(t, visit{counted{"blue"}, []string{"Bo"}, spelled{"[]"}}, answer.Value)
	assert.Equal(t, slices.Repeat([]string{`red Ada {"a":"a","b":1}`}, 2), got)
	assert.Equal(t, int64(3*2), reads.Load(), "the call, its second try, the answer")
}
