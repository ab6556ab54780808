package machine

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
)

// ModelInfo is what is known of a model of a run. The zero value is a model of an unknown name that bounds
// its replies as a request asks.
type ModelInfo struct {
	// Name is the provider's name of the model, by which [github.com/retake-go/retake/policy.Prices] know it.
	Name string `json:"name,omitempty" redact:"keep"`
	// Provider is the name of the provider, or the host of a server that has none, for the scopes of a
	// limiter. It is not recorded here; grants record their scopes.
	Provider string `json:"-"`
	// MaxOutputTokens is the most tokens that a reply has, with its reasoning, whatever a request asks; 0
	// means unknown. At least 0.
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty"`
	// Unbounded reports that the model cannot bound its replies as a request asks: one reply may pass a
	// budget.
	Unbounded bool `json:"unbounded,omitempty"`
}

// checkModels reports what is wrong with what a config says of models.
func checkModels(cfg *Config) error {
	var errs []error
	for _, name := range canon.Keys(cfg.Models) {
		if n := cfg.Models[name].MaxOutputTokens; n < 0 {
			errs = append(errs, fmt.Errorf("models[%q].max_output_tokens: %d; must be 0 or more", name, n))
		}
	}
	if cfg.Offered < 0 {
		errs = append(errs, fmt.Errorf("offered: %d; must be 0 or more", cfg.Offered))
	}
	return errors.Join(errs...)
}
