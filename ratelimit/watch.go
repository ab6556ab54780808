package ratelimit

import (
	"context"
	"time"
)

// Response is the head of a provider's response, as the adapter received it. It is read-only.
type Response struct {
	// Provider and Model are the configured names; empty if unknown.
	Provider, Model string
	// Status is the HTTP status.
	Status  int
	Headers map[string][]string
	// At is the time of the response.
	At time.Time
}

type watchKey struct{}

// Watch returns a context with which adapters call f for each response they receive, and then the functions
// that watch ctx. f may be called from several goroutines at once.
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
