package anthropic_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/anthropic"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
)

// begunAgain is a stream that a gateway restarted in the middle.
const begunAgain = `event: message_start
data: {"type":"message_start","message":{"type":"message","role":"assistant","content":[]}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"old\"}"}}

`

func TestOfTwoMessagesInAStreamNoneIsRun(t *testing.T) {
	again := begunAgain + strings.Replace(begunAgain, "old", "new", 1) + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	_, err := through(t, answer(200, "text/event-stream", again), small).Reply(t.Context(), loop.Request{Stream: func(loop.Delta) {}})
	require.EqualError(t, err, "anthropic: 200 invalid_response: unreadable response: a stream with two messages")
}

// endless is a body of empty lines without an end.
type endless struct {
	read   int
	closed bool
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat(": nothing\n", 1+len(p)/10))
	e.read += n
	return n, nil
}

func (e *endless) Close() error {
	e.closed = true
	return nil
}

func TestAResponseThatComesAsTheCallerLeavesIsLetGo(t *testing.T) {
	for name, stream := range map[string]func(loop.Delta){"whole": nil, "stream": func(loop.Delta) {}} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			body := &endless{}
			m := through(t, func(r *http.Request) (*http.Response, error) {
				leave()
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
			}, small)
			_, err := m.Reply(ctx, loop.Request{Stream: stream})
			require.ErrorIs(t, err, context.Canceled)
			assert.True(t, body.closed)
		})
	}
}

func TestResponsesWithoutAnEndAreCutOff(t *testing.T) {
	for name, kind := range map[string]string{"whole": "application/json", "stream": "text/event-stream"} {
		for _, status := range []int{200, 500} {
			body := &endless{}
			m := through(t, func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: body, Request: r}, nil
			}, small)
			req := loop.Request{}
			if name == "stream" {
				req.Stream = func(loop.Delta) {}
			}
			_, err := m.Reply(t.Context(), req)
			own, ok := errors.AsType[*anthropic.Error](err)
			require.True(t, ok, "%s %d: %v", name, status, err)
			assert.Equal(t, status, own.Status)
			assert.LessOrEqual(t, body.read, 64<<20+1<<20)
			want := map[int]fault.Class{200: fault.InvalidResponse, 500: fault.Unavailable}[status]
			assert.Equal(t, want, own.Failure().Class, name)
		}
	}
}
