package genai

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/loop"
)

// exchange is one request and what came of it. Its response is kept as it came: the SDK's errors have no headers, and its values are
// not exact.
type exchange struct {
	wire.Head
	stream func(loop.Delta)
	names  map[string]string

	body []byte
	// taken is how much of body has been read as a stream.
	taken int
	// readErr is what kept the body from being read to its end.
	readErr error
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
		x.Came(resp)
		x.body = nil
		resp.Body = &kept{wire.Bounded(resp.Body), x}
	}
	return resp, err
}

// kept is a body that is kept while it is read.
type kept struct {
	io.ReadCloser
	x *exchange
}

func (k *kept) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
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
	return x.Status == http.StatusOK && x.readErr == nil
}
