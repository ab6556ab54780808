package openai

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// errEndedEarly is a response that is over before the reply is: a fault of the connection.
var errEndedEarly = fmt.Errorf("the response ended before the reply was whole: %w", io.ErrUnexpectedEOF)

// readCloser reads bounded and closes the response.
type readCloser struct {
	io.Reader
	io.Closer
}

// follow reads a stream to its end. Nothing of a stream that breaks is returned.
func follow(res *http.Response, body io.Reader, tell func(loop.Delta), read codec) (message.Reply, error) {
	decoder := ssestream.NewDecoder(&http.Response{Header: res.Header, Body: readCloser{body, res.Body}})
	for last := false; !last && decoder.Next(); {
		data := decoder.Event().Data
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			break
		}
		var err error
		if last, err = read.event(data, tell); err != nil {
			return message.Reply{}, err
		}
	}
	if err := decoder.Err(); errors.Is(err, bufio.ErrTooLong) {
		return message.Reply{}, &badReply{err: errTooLarge}
	} else if err != nil {
		return message.Reply{}, err
	}
	return read.ended()
}
