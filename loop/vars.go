package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-go/retake/feedback/prompt"
	"github.com/retake-go/retake/internal/canon"
)

// vars returns the JSON forms of Vars. The error joins those of all values that have none.
func (c *Config) vars() (map[string]json.RawMessage, error) {
	if len(c.Vars) == 0 {
		return nil, nil
	}
	var errs []error
	all := make(map[string]json.RawMessage, len(c.Vars))
	for _, name := range canon.Keys(c.Vars) {
		v := c.Vars[name]
		if text, ok := v.(string); ok {
			v = canon.UTF8(text)
		}
		raw, err := canon.Marshal(v)
		if err != nil {
			errs = append(errs, fmt.Errorf("vars.%s: has no JSON form: %w", name, err))
			continue
		}
		all[canon.UTF8(name)] = raw
	}
	return all, errors.Join(errs...)
}

// checkVars reports values without a JSON form, and those that a template always reads and Vars does not
// have.
func (c *Config) checkVars() error {
	_, err := c.vars()
	errs := []error{err}
	for _, t := range []struct{ path, text string }{{"system", c.System}, {"feedback", c.Feedback}} {
		if !strings.Contains(t.text, ".Vars") {
			continue
		}
		parsed, err := prompt.Parse(t.text, nil)
		if err != nil {
			continue // the core reports it
		}
		if err := parsed.Check(c.Vars); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", t.path, err))
		}
	}
	return errors.Join(errs...)
}
