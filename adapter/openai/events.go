package openai

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// follow reads a stream to its end. If the stream breaks, nothing of it is returned.
func follow(res *http.Response, tell func(loop.Delta), read codec) (message.Reply, error) {
	decoder := ssestream.NewDecoder(res)
	done := false
	for last := false; !last && decoder.Next(); {
		data := decoder.Event().Data
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			done = true
			break
		}
		var err error
		if last, err = read.event(data, tell); err != nil {
			return message.Reply{}, err
		}
	}
	if err := decoder.Err(); errors.Is(err, bufio.ErrTooLong) {
		return message.Reply{}, &wire.UnreadableError{Got: "a line that is too long"}
	} else if err != nil {
		return message.Reply{}, err
	}
	return read.ended(done)
}
