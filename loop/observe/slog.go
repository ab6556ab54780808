package observe

import (
	"context"
	"log/slog"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
)

// LogTo is an [loop.Observer] that writes one structured record a notice to l: attempts at debug,
// retries at info, reducer errors, exhaustion and, with their text, errors of a tool's own at warn. Every
// record has the correlation id. Of a tool's progress the length is logged and no value; names and texts are
// bounded and printable, and without keys (see [fault.Scrub]).
func LogTo(l *slog.Logger) loop.Observer { return logger{l} }

type logger struct{ to *slog.Logger }

var logLines = map[loop.NoticeKind]struct {
	level slog.Level
	text  string
}{
	loop.AttemptEnded:  {slog.LevelDebug, "attempt ended"},
	loop.Retrying:      {slog.LevelInfo, "retrying"},
	loop.Exhausted:     {slog.LevelWarn, "retries exhausted"},
	loop.ReducerFailed: {slog.LevelWarn, "reducer failed"},
	loop.ToolFailed:    {slog.LevelWarn, "tool failed"},
	loop.Progressed:    {slog.LevelDebug, "tool progress"},
	loop.Ended:         {slog.LevelInfo, "run ended"},
}

// Observe writes the record.
func (l logger) Observe(ctx context.Context, n loop.Notice) {
	line := logLines[n.Kind]
	attrs := []slog.Attr{slog.String("correlation_id", n.CorrelationID)}
	if n.Kind == loop.ToolFailed && n.Err != nil {
		attrs = append(attrs, slog.String("error", fault.Scrub(n.Err.Error())))
	}
	for _, a := range []struct {
		name, value string
	}{
		{"action", n.Action}, {"plane", string(n.Plane)}, {"error_type", string(n.Class)}, {"reason", string(n.Reason)},
		{"reducer", n.Reducer}, {"seed", n.Seed},
	} {
		if a.value != "" {
			attrs = append(attrs, slog.String(a.name, fault.Scrub(a.value)))
		}
	}
	if n.Kind == loop.Progressed {
		attrs = append(attrs, slog.Int("progress_bytes", len(n.Progress)))
	}
	if n.Attempt > 0 {
		attrs = append(attrs, slog.Int("attempt", n.Attempt), slog.Int("max_attempts", n.MaxAttempts))
	}
	if n.Kind == loop.Retrying {
		attrs = append(attrs, slog.Duration("delay", n.Delay))
	}
	l.to.LogAttrs(ctx, line.level, line.text, attrs...)
}
