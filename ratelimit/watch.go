package ratelimit

import (
	"context"
	"time"
)

// Response is a provider's response, as the adapter received it. It is read-only.
type Response struct {
	// Provider and Model are the configured names; empty if unknown. The provider ("groq") says what its
	// headers leave open: at Groq requests are per day and tokens per minute. At Mistral a limit of 0 means
	// that the model is not in the plan; elsewhere it means unknown.
	Provider, Model string
	// Status is the HTTP status.
	Status  int
	Headers map[string][]string
	// Body is that of a refusal, for what providers write there: google.rpc.RetryInfo and QuotaFailure,
	// OpenRouter's error.metadata.headers, "try again in 5s". Headers win over it.
	Body []byte
	// At is the time of the response.
	At time.Time
	// RetryAfter is a wait that the caller knows. It wins over that of the response. A negative wait is
	// ignored.
	RetryAfter Span
}

type watchKey struct{}

// Watch returns a context with which adapters call f for each response they receive, and then the functions
// that already watch ctx. f may be called from several goroutines at once.
func Watch(ctx context.Context, f func(Response)) context.Context {
	if outer, ok := ctx.Value(watchKey{}).(func(Response)); ok {
		own := f
		f = func(r Response) { own(r); outer(r) }
	}
	return context.WithValue(ctx, watchKey{}, f)
}

// Tell passes a response to the function that watches ctx, if any. Adapters call it.
func Tell(ctx context.Context, r Response) {
	if f, ok := ctx.Value(watchKey{}).(func(Response)); ok {
		f(r)
	}
}
