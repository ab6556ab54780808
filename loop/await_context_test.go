package loop_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// sight is what a model reads from its context.
type sight struct {
	left       time.Duration
	bounded    bool
	err, cause error
}

// TestModelsSeeTheContextOfTheirCaller compares the context of models in Await with that in Run.
func TestModelsSeeTheContextOfTheirCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := errors.New("late")
		for name, ends := range map[string]func() (context.Context, context.CancelFunc){
			"by its deadline": func() (context.Context, context.CancelFunc) { return context.WithTimeout(t.Context(), time.Minute) },
			"with a cause": func() (context.Context, context.CancelFunc) {
				return context.WithTimeoutCause(t.Context(), time.Minute, late)
			},
			"without deadline": func() (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Minute, cancel)
				return ctx, cancel
			},
		} {
			seen := make(chan sight, 2)
			model := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
				until, bounded := ctx.Deadline()
				see := sight{bounded: bounded}
				if bounded {
					see.left = time.Until(until)
				}
				<-ctx.Done()
				see.err, see.cause = ctx.Err(), context.Cause(ctx)
				seen <- see
				return message.Reply{}, ctx.Err()
			})
			p := poolOf(t, loop.Config{}, model)
			serves(t, p)
			ctx, cancel := ends()
			_, alone := fixture.Run(ctx, model, newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{})
			cancel()
			ctx, cancel = ends()
			_, together := p.Await(ctx, newSession(t), loop.Input{Prompt: "Hello."})
			cancel()
			assert.Equal(t, <-seen, <-seen, name)
			assert.Equal(t, alone.Error(), together.Error(), name)
		}
	})
}
