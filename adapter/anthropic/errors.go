package anthropic

import (
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/retake-go/retake/adapter/kit"
)

// guarded refuses redirects to elsewhere.
var guarded = kit.GuardOption(option.WithMaxRetries(0))

// watch is a middleware that keeps what the SDK drops from its errors, and bounds what is read. It also
// closes the response that the SDK leaves open if the context ends at that moment.
func (x *exchange) watch(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	resp, err := x.Send(r, next)
	if err != nil || x.Status >= http.StatusBadRequest {
		return resp, err
	}
	if !inAWSForm(resp.Header) && x.Form != kit.Unknown {
		resp.Header.Set("Content-Type", string(x.Form)) // the SDK goes by it
	}
	x.open = resp.Body
	return resp, nil
}

// inAWSForm reports whether a stream is in the binary form of AWS, which the SDK reads for Bedrock.
func inAWSForm(head http.Header) bool {
	return strings.HasPrefix(head.Get("Content-Type"), "application/vnd.amazon.eventstream")
}
