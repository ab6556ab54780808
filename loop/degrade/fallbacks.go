package degrade

import (
	"context"
	"slices"
	"sync"

	"github.com/retake-go/retake/internal/contain"
	"github.com/retake-go/retake/loop/observe"
)

// Degradation is the warning in a result for a step that failed and was replaced. It is a sentence for
// people. Callers may add their own.
type Degradation string

// The steps that can be replaced.
const (
	// ParsingFailed: see [PlainText].
	ParsingFailed Degradation = "the answer could not be read as structured data; its text is used"
	// HistoryFailed: the prompt is made without further context.
	HistoryFailed Degradation = "earlier context could not be selected; the answer was made without it"
	// TelemetryFailed: see [Guard].
	TelemetryFailed Degradation = "telemetry failed and was switched off"
	// SummaryFailed: a text is cut instead.
	SummaryFailed Degradation = "a summary could not be made; the text was cut short instead"
	// StorageFailed: see [KeepInMemory].
	StorageFailed Degradation = "context could not be stored; it is kept in memory and may be lost"
)

// Fallbacks collects the replaced steps of a run. The zero value is ready to use. Use it by pointer; it is
// safe for concurrent use.
type Fallbacks struct {
	// Callbacks.OnDebug is called for every failure; nil means no call.
	Callbacks *observe.Callbacks

	mu       sync.Mutex
	warnings []string
}

// OrElse runs a step that is not critical. If it fails or panics, OrElse returns the value of instead, adds
// the warning to f and calls OnDebug with the error. f may be nil.
func OrElse[T any](
	ctx context.Context, f *Fallbacks, d Degradation, step func(context.Context) (T, error), instead func() T,
) T {
	value, err := attempt(ctx, step)
	if err == nil {
		return value
	}
	f.note(ctx, d, err)
	return instead()
}

func attempt[T any](ctx context.Context, step func(context.Context) (T, error)) (value T, err error) {
	defer contain.Recover(&err)
	return step(ctx)
}

// note adds a warning, each only once, and calls OnDebug.
func (f *Fallbacks) note(ctx context.Context, d Degradation, err error) {
	if f == nil {
		return
	}
	f.mu.Lock()
	if !slices.Contains(f.warnings, string(d)) {
		f.warnings = append(f.warnings, string(d))
	}
	f.mu.Unlock()
	if f.Callbacks != nil {
		f.Callbacks.Debug(ctx, string(d), err)
	}
}

// Warnings returns the warnings so far, each once, in the order of their first failure. The caller owns the
// slice. To add them to a result: r.Meta = r.Meta.Warn(f.Warnings()...).
func (f *Fallbacks) Warnings() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.warnings)
}
