package looptest

import (
	"context"
	"fmt"
	"sync"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// Model is a [loop.Model] that replies from a script. One call more than that is an error which no policy
// retries. It is safe for concurrent use.
type Model struct {
	mu     sync.Mutex
	script []Turn
	asked  []loop.Request
}

// Turn is one entry of a script: a reply or an error.
type Turn struct {
	Reply message.Reply
	Err   error
}

// NewModel returns a model with the given turns, in order. A call after the last turn is an error that says
// how many the script has.
func NewModel(script ...Turn) *Model { return &Model{script: script} }

// Say returns a turn that replies with text.
func Say(text string) Turn { return Turn{Reply: message.Reply{Text: text, Finish: message.Stop}} }

// Call returns a turn that calls tools.
func Call(calls ...message.Call) Turn {
	return Turn{Reply: message.Reply{Calls: calls, Finish: message.ToolUse}}
}

// Fail returns a turn that fails.
func Fail(err error) Turn { return Turn{Err: err} }

// Reply returns the next turn of the script. A stream gets the whole text in one piece.
func (m *Model) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	if err := ctx.Err(); err != nil {
		return message.Reply{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, req)
	if len(m.asked) > len(m.script) {
		short := fmt.Errorf("the script has %s, and the model was asked once more: add a turn",
			several.Of(len(m.script), "turn"))
		return message.Reply{}, &fault.ClassError{Class: fault.Config, Cause: short}
	}
	turn := m.script[len(m.asked)-1]
	if req.Stream != nil && turn.Reply.Text != "" {
		req.Stream(loop.Delta{Call: -1, Text: turn.Reply.Text})
	}
	return turn.Reply, turn.Err
}

// Requests returns the requests so far, in order.
func (m *Model) Requests() []loop.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]loop.Request(nil), m.asked...)
}
