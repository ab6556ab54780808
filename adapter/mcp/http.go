package mcp

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/retake-go/retake/fault"
)

// HTTPClient makes a client for servers that are reached over HTTP: it is base, but answers of status 408,
// 429 and 5xx to a call are a [fault.TransportError], with the wait that the server asks for. The SDK itself
// tells a status by words alone, by which no call is made again. A nil base is [http.DefaultClient]; it is
// not changed. Safe for concurrent use, as base is.
//
//	&sdk.StreamableClientTransport{Endpoint: url, HTTPClient: mcp.HTTPClient(nil)}
func HTTPClient(base *http.Client) *http.Client {
	if base == nil {
		base = http.DefaultClient
	}
	typed := *base
	if typed.Transport == nil {
		typed.Transport = http.DefaultTransport
	}
	typed.Transport = statuses{typed.Transport}
	return &typed
}

// statuses is a transport that tells by type what a server refuses for now.
type statuses struct{ base http.RoundTripper }

// maxRefusal bounds what is read of a refusal, in bytes.
const maxRefusal = 64 << 10

// RoundTrip makes the request. Statuses that the SDK reads itself (405, 404 and those of authorization) are
// left to it.
func (s statuses) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.base.RoundTrip(req)
	if err != nil || req.Method != http.MethodPost || !forNow(resp.StatusCode) {
		return resp, err
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what came before it broke will do
	v := fault.Classify(fault.Response{Status: resp.StatusCode, Headers: resp.Header, Body: body, Now: time.Now()})
	f := v.Failure()
	cause := fmt.Errorf("the server answered %d: %s", resp.StatusCode, v.Message)
	return nil, &fault.TransportError{Class: f.Class, RetryAfter: f.RetryAfter, Final: f.Final, Cause: cause}
}

// forNow reports whether a status says that another try may help.
func forNow(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}
