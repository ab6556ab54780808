package degrade

import (
	"context"
	"sync/atomic"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// PlainText is a [planner.Planner] that accepts the text of an answer if no attempt matched its schema: the
// run succeeds, degraded and with a warning. Other questions go to Next; if that is nil, the policy is
// followed.
type PlainText struct{ Next planner.Planner }

// Plan degrades if only the structure of the answer is wrong.
func (p PlainText) Plan(ctx context.Context, q planner.Question) (machine.Plan, error) {
	if q.Plane == fault.Correction && q.Action == machine.AnswerAction &&
		q.Failure.Class == fault.StructuredOutput {
		return machine.Plan{Do: machine.Degrade, Warning: string(ParsingFailed)}, nil
	}
	if p.Next == nil {
		return machine.Plan{Do: machine.Follow}, nil
	}
	return p.Next.Plan(ctx, q)
}

// PromptOr returns a prompt function for [loop.WithPrompt]. It calls prompt; if that fails, the prompt is
// system alone, without further context.
func PromptOr(f *Fallbacks, prompt loop.PromptFunc, system string) loop.PromptFunc {
	type made struct {
		system string
		add    []message.Message
	}
	return func(
		ctx context.Context, view session.State, at []machine.Position,
	) (string, []message.Message, error) {
		m := OrElse(ctx, f, HistoryFailed, func(ctx context.Context) (made, error) {
			system, add, err := prompt(ctx, view, at)
			return made{system, add}, err
		}, func() made { return made{system: system} })
		return m.system, m.add, nil
	}
}

// Guard returns an observer that forwards to o until o panics.
func Guard(f *Fallbacks, o observe.Observer) observe.Observer { return &guarded{f: f, to: o} }

type guarded struct {
	f   *Fallbacks
	to  observe.Observer
	off atomic.Bool
}

func (g *guarded) Observe(ctx context.Context, n observe.Notice) {
	if g.off.Load() {
		return
	}
	OrElse(ctx, g.f, TelemetryFailed, func(ctx context.Context) (struct{}, error) {
		g.to.Observe(ctx, n)
		return struct{}{}, nil
	}, func() struct{} { g.off.Store(true); return struct{}{} })
}

// Begin forwards to the observer if it is an [observe.Tracer].
func (g *guarded) Begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	t, ok := g.to.(observe.Tracer)
	if !ok || g.off.Load() {
		return ctx, nil
	}
	var end func(observe.WorkEnd)
	inner := OrElse(ctx, g.f, TelemetryFailed, func(ctx context.Context) (inner context.Context, _ error) {
		inner, end = t.Begin(ctx, w)
		return inner, nil
	}, func() context.Context { g.off.Store(true); return ctx })
	return inner, func(e observe.WorkEnd) { g.end(ctx, end, e) }
}

func (g *guarded) end(ctx context.Context, end func(observe.WorkEnd), e observe.WorkEnd) {
	if end == nil || g.off.Load() {
		return
	}
	OrElse(ctx, g.f, TelemetryFailed, func(context.Context) (struct{}, error) {
		end(e)
		return struct{}{}, nil
	}, func() struct{} { g.off.Store(true); return struct{}{} })
}

// Summarize returns the text shortened by summarize. If that fails, it returns the text cut to most bytes,
// like [Truncate].
func Summarize(
	ctx context.Context, f *Fallbacks, text string, most int,
	summarize func(context.Context, string) (string, error),
) string {
	return OrElse(ctx, f, SummaryFailed,
		func(ctx context.Context) (string, error) { return summarize(ctx, text) },
		func() string { return Truncate(text, most) })
}

// Truncate returns text, cut to most bytes without splitting a character. It ends in "…" if it was cut and
// the mark fits. A negative number counts as 0.
func Truncate(text string, most int) string {
	const mark = "…"
	if len(text) <= most {
		return text
	}
	end, tail := most-len(mark), mark
	if end < 0 {
		end, tail = max(most, 0), ""
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + tail
}
