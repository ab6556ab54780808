package anthropic

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// Error is a request that brought no reply: what its text names is safe to log. Its chain has the typed error
// of package fault ([fault.RateLimitError] and its kin) and the SDK's own error. It is the same type in the
// adapters of all providers.
type Error = wire.Error

// watch is a middleware that keeps what the SDK does not give with its errors, and bounds what is read. The
// SDK leaves a response open where the context ends just then.
func (x *exchange) watch(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	x.Key = wire.Key(r.Header)
	resp, err := next(r)
	if err != nil {
		return resp, err
	}
	x.Came(resp)
	if x.Status >= http.StatusBadRequest {
		x.body, _ = io.ReadAll(io.LimitReader(resp.Body, wire.MaxRefusal)) // what came before it broke will do
		resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(x.body))
		return resp, nil
	}
	resp.Body = wire.Bounded(resp.Body)
	x.open = resp.Body
	return resp, nil
}

// failed makes an error of what went wrong with the exchange.
func (x *exchange) failed(ctx context.Context, cause error) error {
	if x.Status >= http.StatusBadRequest {
		return x.Fail(ctx, wire.Trouble{Cause: cause, Refusal: x.body})
	}
	if api, ok := errors.AsType[*sdk.Error](cause); ok {
		// An error within a stream.
		cause = errors.Join(&wire.ToldError{Body: []byte(api.RawJSON()), Say: "an error within the stream"}, cause)
	}
	return x.Fail(ctx, wire.Trouble{Cause: cause})
}
