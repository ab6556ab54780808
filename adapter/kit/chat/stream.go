package chat

import (
	"io"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// codec reads a response of one API.
type codec interface {
	// readBody reads a response that is no stream.
	readBody(body []byte) (message.Reply, error)
	// event reads one event of a stream, and reports whether it was the last.
	event(data []byte, tell func(loop.Delta)) (last bool, err error)
	// ended returns the reply at the end of a stream. done reports that the server marked the end.
	ended(done bool) (message.Reply, error)
	// extra returns what the reply has beside: see [kit.Response].
	extra() kit.Extras
}

// follow reads a stream to its end. If the stream breaks, nothing of it is returned.
func follow(body io.Reader, tell func(loop.Delta), read codec) (message.Reply, error) {
	if tell == nil {
		tell = func(loop.Delta) {}
	}
	done, err := kit.Events(body, func(data []byte) (bool, error) { return read.event(data, tell) })
	if err != nil {
		return message.Reply{}, err
	}
	return read.ended(done)
}
