package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// What is read of a reply is its reader's own: that of the next reply lies elsewhere.
func TestTheSettingsOfNoPolicyAreTheDefaults(t *testing.T) {
	set := policy.DefaultSet()
	assert.Equal(t, loop.ReadSettings(&set), loop.ReadSettings(nil))
}

func TestReadingsOfTwoReplies(t *testing.T) {
	cfg := loop.Config{Tools: bookRoom(t, func(context.Context, booking) (receipt, error) { return receipt{}, nil })}
	said := loop.Read(message.Reply{Text: "Hello."}, cfg, tool.DefaultSettings())
	assert.Nil(t, said.Calls)
	assert.NotNil(t, said.Answer)
	one := loop.Read(message.Reply{Calls: roomCalls(1)}, cfg, tool.DefaultSettings())
	two := loop.Read(message.Reply{Calls: roomCalls(2)}, cfg, tool.DefaultSettings())
	assert.Len(t, one.Calls, 1)
	assert.Nil(t, one.Answer)
	assert.Equal(t, "book_room", one.Calls[0].Tool)
	assert.Len(t, two.Calls, 2)
	assert.Equal(t, "Hello.", said.Message.Text)
}
