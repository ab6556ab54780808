package otel

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/retake-go/retake/fault"
)

// DefaultMaxNames bounds the names that metrics tell apart, where [Config].MaxNames is zero.
const DefaultMaxNames = 32

// Config says where telemetry goes, and what runs do not know themselves. The zero value is usable: the
// program's global providers, and no name of a model.
type Config struct {
	// TracerProvider and MeterProvider make spans and metrics; nil means the global ones.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// Agent names the agent whose runs these are (gen_ai.agent.name); empty for none.
	Agent string
	// Models are the models by their names in the run's ladder (loop.WithModels); that of the run itself is
	// under "".
	Models map[string]Model
	// Tools are the names of tools that metrics tell apart; all others are "_OTHER". Nil tells apart the
	// first MaxNames that come.
	Tools []string
	// MaxNames bounds the names of tools, where Tools is nil, and those of reducers: 1 or more; zero means
	// DefaultMaxNames.
	MaxNames int
	// Classes are classes of the user's own that metrics and spans tell apart, beside those of package fault;
	// all others are "_OTHER".
	Classes []fault.Class
	// DelayBounds and AttemptBounds are the buckets' inclusive upper bounds, rising: seconds, and attempts.
	// Nil means [DelayBounds] and [AttemptBounds].
	DelayBounds, AttemptBounds []float64
}

// Model is a model as the conventions name it.
type Model struct {
	// Provider is gen_ai.provider.name, such as "openai", "anthropic" or "gcp.gemini"; empty is not told.
	Provider string
	// Name is gen_ai.request.model; empty is the name in the ladder.
	Name string
}

// DelayBounds returns the default buckets of retry.delay, in seconds: at once, backoff, and waits that a
// provider asked for. They are those of observe.Metrics. The slice is the caller's own.
func DelayBounds() []float64 { return []float64{0, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300} }

// AttemptBounds returns the default buckets of retry.attempts: those of observe.Metrics. The slice is the
// caller's own.
func AttemptBounds() []float64 { return []float64{1, 2, 3, 5, 8} }

// Validate says all that is wrong with the config, each fault with its field.
func (c Config) Validate() error {
	var errs []error
	if c.MaxNames < 0 {
		errs = append(errs, fmt.Errorf("otel: MaxNames: %d: give 1 or more, or 0 for %d", c.MaxNames, DefaultMaxNames))
	}
	if slices.Contains(c.Tools, "") {
		errs = append(errs, errors.New("otel: Tools: an empty name: leave it out, the final answer is always told apart"))
	}
	if slices.Contains(c.Classes, "") {
		errs = append(errs, errors.New("otel: Classes: an empty class: leave it out"))
	}
	return errors.Join(append(errs, rising("DelayBounds", c.DelayBounds), rising("AttemptBounds", c.AttemptBounds))...)
}

func rising(field string, bounds []float64) error {
	if bounds != nil && len(bounds) == 0 {
		return fmt.Errorf("otel: %s: no bounds: give at least one, or nil for the default", field)
	}
	for n, b := range bounds {
		if math.IsNaN(b) || math.IsInf(b, 0) || b < 0 {
			return fmt.Errorf("otel: %s[%d]: %v: bounds are finite and not negative", field, n, b)
		}
		if n > 0 && b <= bounds[n-1] {
			return fmt.Errorf("otel: %s[%d]: %v after %v: bounds rise", field, n, b, bounds[n-1])
		}
	}
	return nil
}
