package genai

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
)

// exchange is one request and its response.
type exchange struct {
	kit.Head
	stream func(loop.Delta)
	names  map[string]string
	// told is set if somebody wants the extras.
	told bool

	// got is the parsed response, readErr the error of reading it.
	got     *received
	readErr error
}

type exchangeKey struct{}

func (x *exchange) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// reader parses the response in place of the SDK. The SDK's values are not exact and its errors have no
// headers; it knows few forms of streams, and panics on some bodies.
type reader struct{ base http.RoundTripper }

// RoundTrip sends the request, and parses a good response into the exchange of the request's context. The
// SDK gets an empty response.
func (r reader) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return r.base.RoundTrip(req)
	}
	resp, err := x.Send(req, r.base.RoundTrip)
	if err != nil {
		x.readErr = err
		return nil, err
	}
	defer resp.Body.Close()
	left := "{}"
	switch {
	case x.Status >= http.StatusMultipleChoices:
		left = string(x.Refusal)
	default:
		x.got, x.readErr = x.read(resp.Body)
		if x.stream != nil {
			left = ""
		}
	}
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(left)), int64(len(left))
	return resp, nil
}

var errNoJSON = &kit.UnreadableError{Got: "no JSON of a reply"}

// readWhole parses a response that is no stream: one JSON value, or a list of them.
func (x *exchange) readWhole(body io.Reader) (*received, error) {
	raw, err := kit.ReadWhole(body)
	if err != nil {
		return nil, err
	}
	got, all := &received{}, kit.Items(raw)
	if all == nil {
		all = []json.RawMessage{raw}
	}
	if len(all) > kit.MaxEvents {
		return nil, kit.ErrTooMany
	}
	for _, one := range all {
		if err := x.take(one, got); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// read parses a response by what it is: JSON, or else events. Both come unasked, too.
func (x *exchange) read(body io.Reader) (*received, error) {
	if x.Form == kit.EventStream {
		return x.readEvents(body)
	}
	return x.readWhole(body)
}

// readEvents parses server-sent events to their end, which must come after a finish reason.
func (x *exchange) readEvents(in io.Reader) (*received, error) {
	got := &received{}
	_, err := kit.Events(in, func(data []byte) (bool, error) { return false, x.take(data, got) })
	if err == nil && !got.ended() {
		err = kit.ErrEnded
	}
	if err != nil {
		return nil, err
	}
	return got, nil
}

// take parses one JSON value, which may be an error.
func (x *exchange) take(raw []byte, got *received) error {
	var c chunk
	if json.Unmarshal(raw, &c) != nil {
		return errNoJSON
	}
	if kit.IsError(c.Error) {
		return &kit.ReportedError{Body: bytes.Clone(raw)}
	}
	tell := x.stream
	if tell == nil {
		tell = func(loop.Delta) {}
	}
	if got.last = raw; x.told {
		got.keep(raw)
	}
	return got.add(c, x.names, tell)
}
