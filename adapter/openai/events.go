package openai

import (
	"bytes"
	"net/http"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// follow reads a stream to its end. If the stream breaks, nothing of it is returned.
func follow(res *http.Response, tell func(loop.Delta), read codec) (message.Reply, error) {
	decoder := ssestream.NewDecoder(&http.Response{Body: res.Body}) // without the type, which may be any
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
	if err := decoder.Err(); err != nil {
		return message.Reply{}, err
	}
	return read.ended(done)
}
