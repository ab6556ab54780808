package observe

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// LogTo returns an [Observer] that writes one structured record per notice to l: attempts and answers of a
// limiter at level debug; retries and questions to people at info; reducer errors, exhaustion, errors of
// tools and warnings at warn, with their text. The start of a run is one record at info; that of a resumed
// run has what it consumed so far. A question to a person has its id, kind and deadline; once it is settled,
// the verdict, and who gave it. The end of a run is one record: at error if it failed, at warn if it was
// cancelled, else at info. It has the error's text and class, the provider, model, status and request id, the
// turns, the attempts, the tokens and the money, with what failed attempts wasted of them, the time waited,
// and the duration, as far as they are known. The ends of model calls and tools, with their durations, are
// logged at debug. Every record has the correlation id. A tool that panicked has its stack, up to 8 KiB. Of a
// tool's progress only the length is logged. A name of a tool that the model invented is quoted. Names and
// texts are limited in length, printable, and scrubbed of secrets: what has the form of a key (see
// [fault.Scrub]), and what schemas mark as secret (see [Hide]).
func LogTo(l *slog.Logger) Observer { return logger{l} }

type logger struct{ to *slog.Logger }

var logLines = map[NoticeKind]struct {
	level slog.Level
	text  string
}{
	AttemptEnded:  {slog.LevelDebug, "attempt ended"},
	Retrying:      {slog.LevelInfo, "retrying"},
	Exhausted:     {slog.LevelWarn, "retries exhausted"},
	ReducerFailed: {slog.LevelWarn, "reducer failed"},
	ToolFailed:    {slog.LevelWarn, "tool failed"},
	Warned:        {slog.LevelWarn, "warning"},
	Asked:         {slog.LevelInfo, "a person is asked"},
	Answered:      {slog.LevelInfo, "a question is settled"},
	Granted:       {slog.LevelDebug, "limiter answered"},
	Progressed:    {slog.LevelDebug, "tool progress"},
}

// topOfStack returns the beginning of a panic's stack, where the panic is.
func topOfStack(stack string) string {
	const most = 8 << 10
	return strings.ToValidUTF8(stack[:min(len(stack), most)], "\uFFFD")
}

// action returns the name of an action. One that the model invented is quoted.
func action(ctx context.Context, n Notice) string {
	if n.Invented {
		return strconv.Quote(feedback.Cut(Hide(ctx, n.Action), maxInvented))
	}
	return n.Action
}

// maxInvented bounds an invented name, in bytes.
const maxInvented = 64

// Observe writes the record.
func (l logger) Observe(ctx context.Context, n Notice) {
	if n.Kind == Ended {
		if r, ok := ctx.Value(loggedKey(l)).(*loggedRun); ok && r.id == n.CorrelationID {
			r.setEnd(ctx, n)
			return
		}
		l.ended(ctx, n, "", n.Took)
		return
	}
	line := logLines[n.Kind]
	var said, stack, grant string
	if n.Kind == ToolFailed && n.Err != nil {
		said = n.Err.Error()
		if p, ok := errors.AsType[*fault.PanicError](n.Err); ok {
			stack = topOfStack(p.Stack)
		}
	}
	if n.Kind == Granted {
		grant = n.Grant.String()
	}
	attrs := texts("correlation_id", n.CorrelationID, "error", Hide(ctx, said), "stack", Hide(ctx, stack),
		"action", action(ctx, n), "plane", string(n.Plane), "error_type", string(n.Class),
		"reason", string(n.Reason), "reducer", n.Reducer, "text", Hide(ctx, n.Text), "grant", grant)
	if n.Kind == Progressed {
		attrs = append(attrs, slog.Int("progress_bytes", len(n.Progress)))
	}
	if n.Attempt > 0 {
		attrs = append(attrs, slog.Int("attempt", n.Attempt), slog.Int("max_attempts", n.MaxAttempts))
	}
	if n.Kind == Retrying {
		attrs = append(attrs, slog.Duration("delay", n.Delay))
	}
	if n.Ask != nil {
		attrs = append(attrs, question(ctx, n)...)
	}
	l.to.LogAttrs(ctx, line.level, line.text, attrs...)
}

// question returns which question it is, until when it can be answered and, once it is settled, how and by
// whom.
func question(ctx context.Context, n Notice) []slog.Attr {
	attrs := texts("question", n.Ask.ID, "kind", string(n.Ask.Kind))
	switch d := n.Settled; {
	case d != nil:
		attrs = append(attrs, texts("verdict", string(d.Verdict), "by", Hide(ctx, d.By))...)
		attrs = append(attrs, slog.Bool("nobody", d.Nobody))
	case !n.Ask.Deadline.IsZero():
		attrs = append(attrs, slog.Time("deadline", n.Ask.Deadline))
	}
	return attrs
}
