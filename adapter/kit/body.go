package kit

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Bounds on what is read of a response, in bytes.
const (
	maxReply   = 64 << 20
	maxRefusal = 1 << 20
)

// MaxEvents bounds the events of a stream, or the values in place of them.
const MaxEvents = 1 << 20

// ErrTooMany is a stream of more than [MaxEvents] events.
var ErrTooMany error = &UnreadableError{fmt.Sprintf("more than %d events", MaxEvents)}

// ReadWhole reads a JSON body to its end, without a mark of a stream's end after it. A truncated or empty
// body is [ErrEnded].
func ReadWhole(body io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		return raw, err
	}
	begins := bytes.TrimLeft(raw, blank)
	value, rest := begins[:extent(begins)], begins[extent(begins):]
	switch {
	case !json.Valid(value):
		if cut(raw) {
			return raw, ErrEnded
		}
	case slices.Contains(doneMarks, string(bytes.TrimSpace(rest))):
		return value, nil
	}
	return raw, nil
}

// boundedBody returns a body that fails with an [UnreadableError] beyond [maxReply]. SDKs read without a
// bound.
func boundedBody(body io.ReadCloser) io.ReadCloser { return &bounded{body, maxReply} }

type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, &UnreadableError{fmt.Sprintf("more than %d MiB", maxReply>>20)}
	}
	if errors.Is(err, gzip.ErrHeader) {
		return 0, &UnreadableError{"no gzip, though its head says so"}
	}
	return n, err
}
