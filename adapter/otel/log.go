package otel

import (
	"context"
	"log/slog"
	"slices"

	"go.opentelemetry.io/otel/trace"
)

// The keys that [Handler] adds to records: OpenTelemetry's, and that of observe.LogTo.
const (
	TraceIDKey       = "trace_id"
	SpanIDKey        = "span_id"
	CorrelationIDKey = "correlation_id"
)

// Handler returns a [slog.Handler] that adds the trace, the span and the correlation id of the run to each
// record, if the context has them, outside of all groups, and passes the record to next. A record keeps a
// correlation id that it has. Use it for the program's logger and for that of observe.LogTo: records and
// traces then lead to each other.
func Handler(next slog.Handler) slog.Handler { return &handler{top: next, now: next} }

// handler keeps what follows the first group, so that attributes can still be added before it.
type handler struct {
	// top is the handler before the first group, now the handler with all of open.
	top, now slog.Handler
	open     []func(slog.Handler) slog.Handler
	// named is set if top has a correlation id.
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

// ids returns the attributes of a record from its context.
func (h *handler) ids(ctx context.Context, r slog.Record) []slog.Attr {
	var ids []slog.Attr
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		ids = append(ids, slog.String(TraceIDKey, span.TraceID().String()),
			slog.String(SpanIDKey, span.SpanID().String()))
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
