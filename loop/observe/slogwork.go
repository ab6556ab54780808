package observe

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/message"
)

// loggedKey is the key of the run that a logger follows. Each logger follows runs of its own.
type loggedKey struct{ to *slog.Logger }

// loggedRun is a run until its record is written.
type loggedRun struct {
	id string

	mu sync.Mutex
	// model is the model of the last reply. ctx and end are those of the notice of the end.
	model string
	ctx   context.Context
	end   Notice
}

func (r *loggedRun) setEnd(ctx context.Context, n Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ctx, r.end = ctx, n
}

func (r *loggedRun) setModel(model string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.model = cmp.Or(model, r.model)
}

// Begin follows a run for the record of its end, and model calls and tools for their durations.
func (l logger) Begin(ctx context.Context, w Work) (context.Context, func(WorkEnd)) {
	if w.Kind == WorkRun {
		l.began(ctx, w)
		end := Notice{Kind: Ended, CorrelationID: w.CorrelationID}
		r := &loggedRun{id: w.CorrelationID, ctx: ctx, end: end}
		return context.WithValue(ctx, loggedKey(l), r), func(e WorkEnd) { l.runEnded(r, e, e.At.Sub(w.At)) }
	}
	return ctx, func(e WorkEnd) {
		if r, ok := ctx.Value(loggedKey(l)).(*loggedRun); ok {
			r.setModel(cmp.Or(e.Model, w.Model))
		}
		l.worked(ctx, w, e)
	}
}

// runEnded writes the record of a run. A run without a notice of its end could not continue.
func (l logger) runEnded(r *loggedRun, e WorkEnd, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.end
	n.Err, n.Class, n.Reason = e.Err, e.Class, e.Reason
	if e.Err != nil {
		n.Class = cmp.Or(n.Class, n.Reason.Class(), fault.Unknown)
	}
	n.Usage = cmp.Or(n.Usage, e.Usage)
	l.ended(r.ctx, n, r.model, took)
}

// began writes the record of the start of a run: if it is resumed, with what it consumed so far.
func (l logger) began(ctx context.Context, w Work) {
	attrs := texts("correlation_id", w.CorrelationID)
	if w.Resumed {
		attrs = append(attrs, slog.Bool("resumed", true))
	}
	attrs = append(attrs, known(slog.Int("turns", w.Turn))...)
	attrs = append(append(attrs, tokens(w.Usage)...), spent(w.Attempt, w.Cost, w.Waited)...)
	l.to.LogAttrs(ctx, slog.LevelInfo, "run began", attrs...)
}

// spent returns the number of attempts, the money and the waits that are known.
func spent(attempts int, cost int64, waited time.Duration) []slog.Attr {
	all := known(slog.Int("attempts", attempts), slog.Int64("cost_micros", cost))
	if waited > 0 {
		all = append(all, slog.Duration("waited", waited))
	}
	return all
}

// ended writes the record of the end of a run. A duration of 0 is unknown.
func (l logger) ended(ctx context.Context, n Notice, model string, took time.Duration) {
	level := slog.LevelError
	switch {
	case n.Class == "" && n.Err == nil:
		level = slog.LevelInfo
	case n.Class == fault.Cancelled:
		level = slog.LevelWarn
	}
	provider, _ := errors.AsType[*fault.ProviderError](n.Err)
	if provider == nil {
		provider = &fault.ProviderError{}
	}
	attrs := texts("correlation_id", n.CorrelationID, "action", action(ctx, n), "plane", string(n.Plane),
		"error_type", string(n.Class), "reason", string(n.Reason), "error", Hide(ctx, errorText(n)),
		"provider", provider.Provider, "model", cmp.Or(provider.Model, model),
		"request_id", provider.RequestID)
	attrs = append(attrs, known(slog.Int("status", provider.StatusCode), slog.Int("attempt", n.Attempt),
		slog.Int("max_attempts", n.MaxAttempts), slog.Int("turns", n.Turns))...)
	attrs = append(attrs, tokens(n.Usage)...)
	attrs = append(attrs, spent(n.Attempts, n.Cost, n.Waited)...)
	attrs = append(attrs, known(slog.Int64("wasted_tokens", n.Wasted.Usage.Total()),
		slog.Int64("wasted_cost_micros", n.Wasted.Cost))...)
	if took > 0 {
		attrs = append(attrs, slog.Duration("duration", took))
	}
	l.to.LogAttrs(ctx, level, "run ended", attrs...)
}

// errorText says what was wrong: the error's text, else the issues of the last reply.
func errorText(n Notice) string {
	if n.Err != nil {
		return n.Err.Error()
	}
	return several.Joined(n.Issues)
}

// worked writes the record of a model call or of the run of a tool.
func (l logger) worked(ctx context.Context, w Work, e WorkEnd) {
	if !l.to.Enabled(ctx, slog.LevelDebug) {
		return
	}
	said := ""
	if e.Err != nil {
		said = e.Err.Error()
	}
	attrs := texts("correlation_id", w.CorrelationID, "tool", w.Tool, "call_id", Hide(ctx, w.CallID), "model",
		cmp.Or(e.Model, w.Model), "finish", string(e.Finish), "error_type", string(e.Class), "error",
		Hide(ctx, said))
	attrs = append(attrs, known(slog.Int("turn", w.Turn), slog.Int("try", w.Transport))...)
	attrs = append(attrs, tokens(e.Usage)...)
	text := map[WorkKind]string{WorkModel: "model call ended", WorkTool: "tool ended"}[w.Kind]
	l.to.LogAttrs(ctx, slog.LevelDebug, text, append(attrs, slog.Duration("duration", e.At.Sub(w.At)))...)
}

// texts returns the texts that are known, by their names. The correlation id is always among them.
func texts(pairs ...string) []slog.Attr {
	var all []slog.Attr
	for at := 0; at < len(pairs); at += 2 {
		if pairs[at+1] != "" || at == 0 {
			all = append(all, slog.String(pairs[at], fault.Scrub(pairs[at+1])))
		}
	}
	return all
}

func tokens(u message.Usage) []slog.Attr {
	return known(slog.Int64("input_tokens", u.InputTokens), slog.Int64("output_tokens", u.OutputTokens))
}

func known(all ...slog.Attr) []slog.Attr {
	return slices.DeleteFunc(all, func(a slog.Attr) bool { return a.Value.Int64() == 0 })
}
