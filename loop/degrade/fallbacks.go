package degrade

import (
	"context"
	"slices"
	"sync"

	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/result"
)

// Degradation is the warning that stands in a result for a step that failed and was done without: a sentence
// for people. Callers may add their own.
type Degradation string

// The steps that a run can do without.
const (
	// ParsingFailed: see [PlainText].
	ParsingFailed Degradation = "the answer could not be read as structured data; its text is used"
	// HistoryFailed: see [PromptOr].
	HistoryFailed Degradation = "earlier context could not be selected; the answer was made without it"
	// TelemetryFailed: see [Guard].
	TelemetryFailed Degradation = "telemetry failed and was switched off"
	// SummaryFailed: see [Summarize].
	SummaryFailed Degradation = "a summary could not be made; the text was cut short instead"
	// StorageFailed: see [KeepInMemory].
	StorageFailed Degradation = "context could not be stored; it is kept in memory and may be lost"
)

// Fallbacks collects what a run had to do without. The zero value is ready; it is safe for concurrent use,
// and used by pointer.
type Fallbacks struct {
	// Callbacks is told of every failure by OnDebug; nil tells nobody.
	Callbacks *observe.Callbacks

	mu       sync.Mutex
	warnings []string
}

// OrElse runs a step that is not critical. Where it fails or panics, the failure goes no further: instead
// makes the value, f has the warning, and OnDebug is told the error. f may be nil.
func OrElse[T any](ctx context.Context, f *Fallbacks, d Degradation, step func(context.Context) (T, error), instead func() T) T {
	value, err := attempt(ctx, step)
	if err == nil {
		return value
	}
	f.note(ctx, d, err)
	return instead()
}

func attempt[T any](ctx context.Context, step func(context.Context) (T, error)) (value T, err error) {
	defer observe.Recover(&err)
	return step(ctx)
}

// note adds a warning, each once, and tells OnDebug.
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

// Warnings are those collected so far, each once, in the order of their first failure. The slice is the
// caller's own.
func (f *Fallbacks) Warnings() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.warnings)
}

// AddTo puts the warnings into an envelope: r.Meta = f.AddTo(r.Meta).
func (f *Fallbacks) AddTo(m result.Meta) result.Meta {
	if warnings := f.Warnings(); len(warnings) > 0 {
		return m.Warn(warnings...)
	}
	return m
}
