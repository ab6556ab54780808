package temporal

import (
	"context"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
)

// loopRun makes a loop for one run.
func loopRun(
	ctx context.Context, model loop.Model, s *session.Session, prompt string, cfg loop.Config, opts ...loop.Option,
) (loop.Result, error) {
	l, err := loop.New(model, cfg, opts...)
	if err != nil {
		return loop.Result{}, err
	}
	return l.Run(ctx, s, loop.Input{Prompt: prompt})
}
