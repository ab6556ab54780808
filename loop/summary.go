package loop

import (
	"context"
	"errors"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// SummaryFunc sums up messages that later prompts leave out. They are in order and read-only. The usage is
// added to that of the run, with an error, too. An error, or a text without words, leaves them out without a
// summary.
type SummaryFunc func(ctx context.Context, said []message.Message) (text string, u message.Usage, err error)

// SummaryBy returns a function that asks a model for summaries. system is its system prompt; empty means a
// short one in English.
func SummaryBy(m Model, system string) SummaryFunc {
	if system == "" {
		system = "Sum up the conversation below for yourself, to go on with it later: what the user wants, what " +
			"was found, " +
			"what was decided, and what is still to do. Keep names, numbers and ids as they are. Write only the summary."
	}
	return func(ctx context.Context, said []message.Message) (string, message.Usage, error) {
		r, err := m.Reply(ctx, Request{System: system,
			Messages: []message.Message{{Role: message.User, Text: told(said)}}})
		switch {
		case err != nil:
			return "", r.Usage, err
		case machine.Unusable(r):
			return "", r.Usage, errors.New("the model returned no usable summary")
		default:
			return strings.TrimSpace(extract.WithoutThoughts(r.Text)), r.Usage, nil
		}
	}
}

// told returns messages as one text.
func told(said []message.Message) string {
	var b strings.Builder
	for _, m := range said {
		b.WriteString(string(m.Role))
		if m.Name != "" {
			b.WriteString(" " + m.Name)
		}
		b.WriteString(": " + m.Text + "\n")
		for _, c := range m.Calls {
			b.WriteString("calls " + c.Name + " " + c.Arguments + "\n")
		}
	}
	return b.String()
}

// summarise calls the function of [WithSummary].
func (p *process) summarise(r *machine.SummaryRun) ([]machine.Effect, error) {
	said := message.Clone(p.runner.State().Span(r.Span))
	made, left, err := ask(p.ctx, p, engine.Limits{},
		func(ctx context.Context, _ engine.Tell) (made machine.Summary, err error) {
			if made.Text, made.Usage, err = p.summary(ctx, said); err == nil {
				err = engine.SummaryFault(made.Text)
			}
			return made, err
		})
	switch {
	case left:
		return nil, errCallLeft
	case p.ctx.Err() != nil:
		p.owed.add(made.Usage)
		return p.cancel()
	case err != nil:
		return p.runner.SummaryFailed(p.now(), err, made.Usage)
	}
	return p.runner.Summarised(p.now(), made)
}
