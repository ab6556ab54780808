package otel

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/retake-go/retake/fault"
)

// DefaultMaxNames is the bound on distinct names in metrics if [Config].MaxNames is zero.
const DefaultMaxNames = 32

// Config configures an [Observer]. The zero value is usable: it uses the global providers, and the names
// that models give themselves.
type Config struct {
	// TracerProvider and MeterProvider default to the global ones if they are nil.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// Agent is the name of the agent (gen_ai.agent.name); empty for none.
	Agent string
	// Models are the models by their names in the run's ladder (loop.WithModels). The run's own model has
	// the name "". A model that describes itself (loop.Describer), as those of the adapters do, needs none.
	Models map[string]Model
	// Tools are the names of tools that metrics show; any other is "_OTHER". Nil shows the first MaxNames
	// names.
	Tools []string
	// MaxNames bounds the names of tools, if Tools is nil, those of reducers, and those that servers give the
	// models that answer: 1 or more; zero means DefaultMaxNames.
	MaxNames int
	// Classes are classes of the user's own that metrics and spans show, beside those of package fault.
	// Any other is "_OTHER".
	Classes []fault.Class
	// DelayBounds and AttemptBounds are the inclusive upper bounds of the buckets, in rising order:
	// seconds, and attempts. Nil means [DelayBounds] and [AttemptBounds].
	DelayBounds, AttemptBounds []float64
}

// Model identifies a model in the terms of the conventions.
type Model struct {
	// Provider is gen_ai.provider.name, such as "openai", "anthropic" or "gcp.gemini"; empty means
	// what the model says of itself.
	Provider string
	// Name is gen_ai.request.model; empty means what the model says of itself, else the name in the ladder.
	Name string
	// MaxTokens is gen_ai.request.max_tokens, as the model's adapter is configured; zero means what the model
	// says of itself. What a budget of the run allows goes before it.
	MaxTokens int
	// Host and Port are server.address and server.port of calls whose model does not tell them. Empty and zero
	// omit them.
	Host string
	Port int
}

// DelayBounds returns the default buckets of retake.retry.delay, in seconds: immediate retries, backoff, and
// waits that a provider asked for. They are those of observe.Metrics. The slice belongs to the caller.
func DelayBounds() []float64 { return []float64{0, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300} }

// AttemptBounds returns the default buckets of retake.retry.attempts: those of observe.Metrics. The slice
// belongs to the caller.
func AttemptBounds() []float64 { return []float64{1, 2, 3, 5, 8} }

// Validate returns an error that joins one for each invalid field.
func (c Config) Validate() error {
	var errs []error
	if c.MaxNames < 0 {
		errs = append(errs, fmt.Errorf("otel: MaxNames: must be at least 1, or 0 for %d, not %d",
			DefaultMaxNames, c.MaxNames))
	}
	if slices.Contains(c.Tools, "") {
		errs = append(errs,
			errors.New("otel: Tools: a name is empty; remove it, because the final answer is always shown"))
	}
	if slices.Contains(c.Classes, "") {
		errs = append(errs, errors.New("otel: Classes: a class is empty; remove it"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		errs = append(errs, c.Models[name].faults(fmt.Sprintf("otel: Models[%q]", name))...)
	}
	return errors.Join(append(errs, rising("DelayBounds", c.DelayBounds),
		rising("AttemptBounds", c.AttemptBounds))...)
}

// faults returns an error for each invalid field of the model at a place.
func (m Model) faults(at string) (errs []error) {
	if m.MaxTokens < 0 {
		errs = append(errs, fmt.Errorf("%s.MaxTokens: must be at least 1, or 0 if it is unknown, not %d", at,
			m.MaxTokens))
	}
	switch {
	case m.Port < 0:
		errs = append(errs, fmt.Errorf("%s.Port: must be at least 1, or 0 if it is unknown, not %d", at,
			m.Port))
	case m.Port > math.MaxUint16:
		errs = append(errs, fmt.Errorf("%s.Port: must be at most %d, or 0 if it is unknown, not %d", at,
			math.MaxUint16, m.Port))
	case m.Port > 0 && m.Host == "":
		errs = append(errs, fmt.Errorf("%s.Port: is %d without a Host; name the host", at, m.Port))
	}
	return errs
}

func rising(field string, bounds []float64) error {
	if bounds != nil && len(bounds) == 0 {
		return fmt.Errorf("otel: %s: is empty; give at least one bound, or nil for the default", field)
	}
	for n, b := range bounds {
		if math.IsNaN(b) || math.IsInf(b, 0) || b < 0 {
			return fmt.Errorf("otel: %s[%d]: must be finite and not negative, not %v", field, n, b)
		}
		if n > 0 && b <= bounds[n-1] {
			return fmt.Errorf("otel: %s[%d]: must be more than the bound before it: %v follows %v", field, n,
				b, bounds[n-1])
		}
	}
	return nil
}
