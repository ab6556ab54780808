package loop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// The values read from a reply belong to the reader: those of the next reply are separate.
func TestTheSettingsOfNoPolicyAreTheDefaults(t *testing.T) {
	set := policy.DefaultSet()
	assert.Equal(t, engine.Settings(&set), engine.Settings(nil))
}

func TestReadingsOfTwoReplies(t *testing.T) {
	on := engine.Offer{Tools: bookRoom(t, func(context.Context, booking) (receipt, error) { return receipt{}, nil })}
	said := engine.Read(message.Reply{Text: "Hello."}, on, "", tool.Settings{})
	assert.Nil(t, said.Calls)
	assert.NotNil(t, said.Answer)
	one := engine.Read(message.Reply{Calls: roomCalls(1)}, on, "", tool.Settings{})
	two := engine.Read(message.Reply{Calls: roomCalls(2)}, on, "", tool.Settings{})
	assert.Len(t, one.Calls, 1)
	assert.Nil(t, one.Answer)
	assert.Equal(t, "book_room", one.Calls[0].Tool)
	assert.Len(t, two.Calls, 2)
	assert.Equal(t, "Hello.", said.Message.Text)
}

// cancelling is an argument that ends a context when it is read.
type cancelling string

var cancelWhileRead func()

func (c *cancelling) UnmarshalText(text []byte) error {
	cancelWhileRead()
	*c = cancelling(text)
	return nil
}

// If a run is cancelled while a reply is checked, the check stops and no tool is run.
func TestACheckOfAReplyEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	cancelWhileRead = func() { read++; cancel() }
	type args struct {
		City cancelling `json:"city"`
		List []int      `json:"list"`
	}
	tools, err := tool.NewSet(tool.New("visit", "", func(context.Context, args) (int, error) {
		t.Error("the tool was run")
		return 0, nil
	}))
	require.NoError(t, err)
	calls := make([]message.Call, 20)
	for n := range calls {
		calls[n] = message.Call{Name: "visit", Arguments: `{"city":"Lisbon","list":[` + strings.Repeat("1,", 5000) + `1]}`}
	}
	_, err = fixture.Run(ctx, looptest.NewModel(looptest.Call(calls...)), newSession(t), loop.Input{Prompt: "Visit."}, loop.Config{Tools: tools})
	require.ErrorIs(t, err, policy.ReasonCancelled)
	assert.Equal(t, 1, read)
}
