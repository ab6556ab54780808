package genai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/loop"
)

// exchange is one request and its response.
type exchange struct {
	wire.Head
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
	case x.Status != http.StatusOK:
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

var errNoJSON = &wire.UnreadableError{Got: "no JSON of a reply"}

// readWhole parses a response that is no stream: one JSON value, or a list of them.
func (x *exchange) readWhole(body io.Reader) (*received, error) {
	raw, err := wire.ReadWhole(body)
	if err != nil {
		return nil, err
	}
	got, all := &received{}, wire.Items(raw)
	if all == nil {
		all = []json.RawMessage{raw}
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
	if x.Form == wire.EventStream {
		return x.readEvents(body)
	}
	return x.readWhole(body)
}

// readEvents parses server-sent events to their end, which must come after a finish reason. It ignores
// comments and fields other than data.
func (x *exchange) readEvents(in io.Reader) (*received, error) {
	got, strange := &received{}, false
	var data []byte
	take := func() error {
		event := bytes.TrimSpace(data)
		data = nil
		if len(event) == 0 {
			return nil
		}
		return x.take(event, got)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, wire.MaxReply+2) // the body ends before a line is too long
	for lines.Scan() {
		line := lines.Bytes()
		more, isData := bytes.CutPrefix(line, []byte("data:"))
		strange = strange || !isData && !isField(line)
		// Some servers omit the empty line between events.
		follows := isData && bytes.HasSuffix(data, []byte("}")) &&
			bytes.HasPrefix(bytes.TrimSpace(more), []byte("{"))
		if len(line) == 0 || follows {
			if err := take(); err != nil {
				return nil, err
			}
		}
		if isData {
			data = append(data, bytes.TrimRight(more, " \t")...)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(data) > 0 && wire.Cut(data) {
		return nil, wire.ErrEnded
	}
	if err := take(); err != nil {
		return nil, err
	}
	switch {
	case strange && !got.began && got.blocked == "":
		return nil, errNoJSON
	case !got.ended():
		return nil, wire.ErrEnded
	}
	return got, nil
}

// isField reports whether a line is empty, a comment, a field of an event, or the beginning of the field
// data.
func isField(line []byte) bool {
	name, _, found := bytes.Cut(line, []byte(":"))
	return len(name) == 0 || wire.OneOf(string(name), "event", "id", "retry") ||
		!found && strings.HasPrefix("data", string(name))
}

// take parses one JSON value, which may be an error.
func (x *exchange) take(raw []byte, got *received) error {
	var c chunk
	if json.Unmarshal(raw, &c) != nil {
		return errNoJSON
	}
	if wire.IsError(c.Error) {
		return &wire.ReportedError{Body: bytes.Clone(raw)}
	}
	tell := x.stream
	if tell == nil {
		tell = func(loop.Delta) {}
	}
	if x.told {
		got.keep(raw)
	}
	return got.add(c, x.names, tell)
}
