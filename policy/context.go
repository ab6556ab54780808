package policy

import (
	"errors"
	"fmt"
	"slices"
)

// ContextStep is one way to make a prompt shorter. Its text is recorded.
type ContextStep string

// The steps.
const (
	// Fold leaves out replies of which nothing passed, with their feedback, once their actions have passed.
	Fold ContextStep = "fold"
	// ClearResults replaces old results of tools by a note about them.
	ClearResults ContextStep = "clear"
	// Summarise replaces the oldest turns by a summary that a model or the user's function makes.
	Summarise ContextStep = "summarise"
	// Window leaves out the oldest turns.
	Window ContextStep = "window"
)

// Context says how a prompt is kept within the context window of its model. The zero value leaves all as it is.
type Context struct {
	// Steps are the steps in the order in which they are taken, each at most once, until the prompt is short
	// enough. None leaves prompts as they are.
	Steps []ContextStep `json:"steps"`
	// From is the share of the window, in percent, from which on a prompt is made shorter; To is the share that
	// it then has at most. 0 < To < From <= 100.
	From int `json:"from"`
	To   int `json:"to"`
	// Keep is the number of newest turns that always stay as they are; 1 or more.
	Keep int `json:"keep"`
}

// DefaultContext returns the rules that apply unless a policy says otherwise: fold, clear, window, from 75 %
// of the window down to 50 %, and the newest 4 turns stay.
func DefaultContext() Context {
	return Context{Steps: []ContextStep{Fold, ClearResults, Window}, From: 75, To: 50, Keep: 4}
}

// Validate reports all faults, joined.
func (c Context) Validate() error {
	if len(c.Steps) == 0 {
		return nil
	}
	var errs []error
	for n, s := range c.Steps {
		switch all := []ContextStep{Fold, ClearResults, Summarise, Window}; {
		case !slices.Contains(all, s):
			errs = append(errs, fmt.Errorf("context: steps[%d]: %q must be one of %q", n, s, all))
		case slices.Contains(c.Steps[:n], s):
			errs = append(errs, fmt.Errorf("context: steps[%d]: %q is there twice", n, s))
		}
	}
	if c.From < 1 || c.From > 100 {
		errs = append(errs, fmt.Errorf("context: from: %d must be a percentage from 1 to 100", c.From))
	}
	if c.To < 1 || c.To >= c.From {
		errs = append(errs, fmt.Errorf("context: to: %d must be a percentage from 1 to below from (%d)", c.To, c.From))
	}
	if c.Keep < 1 {
		errs = append(errs, fmt.Errorf("context: keep: %d must be 1 or more", c.Keep))
	}
	return errors.Join(errs...)
}
