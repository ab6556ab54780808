package genai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/ratelimit"
)

// maxBody bounds what is kept of a response, in bytes; a longer one is refused.
const maxBody = 16 << 20

// exchange is one request and what came of it. Its response is kept as it came: the SDK's errors have no headers, and its values are
// not exact.
type exchange struct {
	model  string
	stream func(loop.Delta)
	names  map[string]string

	// response is the response's head; nil where none came.
	response *http.Response
	body     []byte
	// taken is how much of body has been read as a stream.
	taken int
	// readErr is what kept the body from being read to its end.
	readErr error
	// told is what tells of an error within a response of status 200.
	told []byte
}

type exchangeKey struct{}

func (x *exchange) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// recorder keeps responses in the exchange of their request's context.
type recorder struct{ base http.RoundTripper }

// RoundTrip sends the request on.
func (r recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.base.RoundTrip(req)
	if x, ok := req.Context().Value(exchangeKey{}).(*exchange); ok && err == nil {
		x.response, x.body = resp, nil
		resp.Body = &kept{resp.Body, x}
	}
	return resp, err
}

// kept is a body that is kept while it is read.
type kept struct {
	io.ReadCloser
	x *exchange
}

var errTooLong = errors.New("the response has more than 16 MiB")

func (k *kept) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	if len(k.x.body)+n > maxBody {
		n, err = 0, errTooLong
	}
	k.x.body = append(k.x.body, p[:n]...)
	if err != nil && err != io.EOF {
		k.x.readErr = err
	}
	return n, err
}

// events are the data of a stream that have come whole since the last call; at its end also that of a line without one.
func (x *exchange) events(end bool) [][]byte {
	var all [][]byte
	for x.taken < len(x.body) {
		rest := x.body[x.taken:]
		n := bytes.IndexByte(rest, '\n')
		if n < 0 && !end {
			break
		}
		line := rest
		if n >= 0 {
			line = rest[:n]
			x.taken++
		}
		x.taken += len(line)
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			all = append(all, bytes.TrimSpace(data))
		}
	}
	return all
}

// cut reports whether a stream ended within an event: a connection that broke in good order, and no garbage.
func (x *exchange) cut() bool {
	const begun = "data: {"
	rest := string(x.body[x.taken:])
	return x.endedWell() && rest != "" && (strings.HasPrefix(rest, begun) || strings.HasPrefix(begun, rest))
}

// endedWell reports whether a response of status 200 came to an end without an error of the connection.
func (x *exchange) endedWell() bool {
	return x.response != nil && x.response.StatusCode == http.StatusOK && x.readErr == nil
}

// received is when the response came.
func (x *exchange) received() time.Time {
	if x.response == nil {
		return time.Now()
	}
	return wire.ReceivedAt(x.response.Header, time.Now())
}

func (x *exchange) limits(body []byte) ratelimit.State {
	if x.response == nil {
		return ratelimit.State{}
	}
	return ratelimit.Parse(x.response.Header, x.received(), ratelimit.ForProvider(provider), ratelimit.WithBody(body))
}

// requestID is what a gateway, or the API, named the request in the response's head.
func (x *exchange) requestID() string {
	if x.response == nil {
		return ""
	}
	for _, name := range [...]string{"X-Request-Id", "X-Goog-Request-Id"} {
		if id := wire.Word(x.response.Header.Get(name)); id != "" {
			return id
		}
	}
	return ""
}
