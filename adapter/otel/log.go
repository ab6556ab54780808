package otel

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"
)

// The keys that [Handler] adds to records: those of OpenTelemetry, and that of observe.LogTo.
const (
	TraceIDKey       = "trace_id"
	SpanIDKey        = "span_id"
	CorrelationIDKey = "correlation_id"
)

// Handler is a [slog.Handler] that adds to each record which trace and span it belongs to, and the
// correlation id of the run, as far as its context has them; then next handles it. They stand outside of all
// groups. A record that has a correlation id keeps its own. It is for the program's logger, and for that of
// observe.LogTo: a run's records are then found from its trace, and its trace from them.
func Handler(next slog.Handler) slog.Handler { return &handler{top: next, now: next} }

// handler keeps what was opened after the first group, so that attributes can still be added before it.
type handler struct {
	// top is the handler before the first group, now the one with all of open.
	top, now slog.Handler
	open     []func(slog.Handler) slog.Handler
	// named is set where top has a correlation id already.
	named bool
}

// Enabled asks next.
func (h *handler) Enabled(ctx context.Context, l slog.Level) bool { return h.now.Enabled(ctx, l) }

// WithAttrs adds attributes where h stands.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) == 0 {
		return h
	}
	with := func(to slog.Handler) slog.Handler { return to.WithAttrs(attrs) }
	if len(h.open) == 0 {
		top := with(h.top)
		return &handler{top: top, now: top, named: h.named || slices.ContainsFunc(attrs, isCorrelation)}
	}
	return h.opened(with)
}

// WithGroup opens a group.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return h.opened(func(to slog.Handler) slog.Handler { return to.WithGroup(name) })
}

func (h *handler) opened(with func(slog.Handler) slog.Handler) slog.Handler {
	return &handler{top: h.top, now: with(h.now), open: append(slices.Clip(h.open), with), named: h.named}
}

// Handle adds the ids.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	ids := h.ids(ctx, r)
	if len(ids) == 0 {
		return h.now.Handle(ctx, r)
	}
	to := h.top.WithAttrs(ids)
	for _, with := range h.open {
		to = with(to)
	}
	return to.Handle(ctx, r)
}

// ids are what the context says of a record.
func (h *handler) ids(ctx context.Context, r slog.Record) []slog.Attr {
	var ids []slog.Attr
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		ids = append(ids, slog.String(TraceIDKey, span.TraceID().String()), slog.String(SpanIDKey, span.SpanID().String()))
	}
	id := CorrelationID(ctx)
	if id == "" || h.named {
		return ids
	}
	if len(h.open) == 0 {
		own := false
		r.Attrs(func(a slog.Attr) bool { own = isCorrelation(a); return !own })
		if own {
			return ids
		}
	}
	return append(ids, slog.String(CorrelationIDKey, id))
}

func isCorrelation(a slog.Attr) bool { return a.Key == CorrelationIDKey }
