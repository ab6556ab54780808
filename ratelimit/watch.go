package ratelimit

import (
	"context"
	"time"
)

// Response is the head of a provider's response, good or bad, as an adapter saw it. Read-only.
type Response struct {
	// Provider and Model are names as configured; empty where they are not known.
	Provider, Model string
	// Status is the HTTP status.
	Status  int
	Headers map[string][]string
	// At is when the response came.
	At time.Time
}

type watchKey struct{}

// Watch returns a context under which adapters tell f of each response that they get. f may be called from
// several goroutines at once.
func Watch(ctx context.Context, f func(Response)) context.Context {
	return context.WithValue(ctx, watchKey{}, f)
}

// Tell tells whoever watches ctx of a response. It is for adapters.
func Tell(ctx context.Context, r Response) {
	if f, ok := ctx.Value(watchKey{}).(func(Response)); ok {
		f(r)
	}
}
