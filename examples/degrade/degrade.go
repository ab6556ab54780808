// Package degrade shows how steps of a program that are not critical are replaced with degrade.OrElse: a
// prompt that cannot be made, and a summary that cannot be written. The run goes on, and its result has a
// warning.
package degrade

import (
	"context"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// PromptOr returns a prompt function for loop.WithPrompt. It calls prompt; if that fails, the prompt is
// system alone, without further context.
func PromptOr(f *degrade.Fallbacks, prompt loop.PromptFunc, system string) loop.PromptFunc {
	type made struct {
		system string
		add    []message.Message
	}
	return func(
		ctx context.Context, view session.State, at []machine.Position,
	) (string, []message.Message, error) {
		m := degrade.OrElse(ctx, f, degrade.HistoryFailed, func(ctx context.Context) (made, error) {
			system, add, err := prompt(ctx, view, at)
			return made{system, add}, err
		}, func() made { return made{system: system} })
		return m.system, m.add, nil
	}
}

// Summarize returns the text shortened by summarize. If that fails, it returns the text cut to most bytes,
// in place of a summary.
func Summarize(
	ctx context.Context, f *degrade.Fallbacks, text string, most int,
	summarize func(context.Context, string) (string, error),
) string {
	return degrade.OrElse(ctx, f, degrade.SummaryFailed,
		func(ctx context.Context) (string, error) { return summarize(ctx, text) },
		func() string { return feedback.Cut(text, most) })
}
