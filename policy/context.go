package policy

import (
	"slices"

	"github.com/retake-go/retake/internal/fields"
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

// Context says how prompts are kept within the context window of their model. The record keeps everything. A
// prompt is made shorter before a call that would take more than From of the window, if the window is known
// (see [Price]), and when a provider refuses a prompt as too long. The zero value is the default.
type Context struct {
	// Steps (steps) are the ways in which a prompt is made shorter, in their order, until it is short enough.
	// Nil means fold, clear and window; an empty list leaves prompts as they are.
	Steps []ContextStep `json:"steps,omitzero" policy:"steps,each=step"`
	// From (from) is the share of the window, in percent, at which a prompt is made shorter: 75 if nil, at
	// most 100. To (to) is the largest share afterwards: 50 if nil, below From.
	From *int `json:"from,omitempty" policy:"from,least=1"`
	To   *int `json:"to,omitempty" policy:"to,least=1"`
	// Keep (keep) is the number of newest turns that stay as they are: at least 1, 4 if nil.
	Keep *int `json:"keep,omitempty" policy:"keep,least=1"`
}

// IsZero reports whether c is the default.
func (c Context) IsZero() bool {
	return c.Steps == nil && c.From == nil && c.To == nil && c.Keep == nil
}

// Order returns the steps, in their order.
func (c Context) Order() []ContextStep {
	if c.Steps == nil {
		return []ContextStep{Fold, ClearResults, Window}
	}
	return c.Steps
}

// Shares returns From and To.
func (c Context) Shares() (from, to int) { return or(c.From, 75), or(c.To, 50) }

// Newest returns Keep.
func (c Context) Newest() int { return or(c.Keep, 4) }

func or(p *int, otherwise int) int {
	if p == nil {
		return otherwise
	}
	return *p
}

// Validate reports every invalid field, each as a [*FieldError], joined. It returns nil if there is none.
func (c Context) Validate() error {
	return faultsOf(c.check)
}

func (c *Context) check(f fields.Faults) {
	checks.Check(c, f)
	from, to := c.Shares()
	if from > 100 {
		f.At("from").Add("%d is more than all of the window; write a percentage up to 100", from)
	}
	if to >= from {
		f.At("to").Add("%d leaves nothing to gain; write a percentage below from, which is %d", to, from)
	}
}

// stepProblem describes what is wrong with the name of a step, or returns "".
func stepProblem(name string) string {
	all := []string{string(Fold), string(ClearResults), string(Summarise), string(Window)}
	if slices.Contains(all, name) {
		return ""
	}
	return fields.Quoted(name) + " is not known; " + fields.Suggest(name, all)
}
