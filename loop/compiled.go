package loop

import (
	"sync"
	"sync/atomic"

	"github.com/retake-go/retake/loop/machine"
)

// made remembers what an action was compiled to. Copies of an action share it: what it holds is that of one of them.
type made struct {
	last atomic.Pointer[madeOf]
}

// madeOf is an action as it was, and what it was compiled to.
type madeOf struct {
	action   Action
	compiled *machine.Compiled
}

// compile is the config of the core for the action, made ready: once, as long as the action stays as it is.
func (a *Action) compile() (*machine.Compiled, error) {
	if a.made != nil {
		if m := a.made.last.Load(); m != nil && m.action.same(a) {
			return m.compiled, nil
		}
	}
	m := a.machine()
	c, err := machine.Compile(&m, nil)
	if err == nil && a.made != nil {
		a.made.last.Store(&madeOf{*a, c})
	}
	return c, err
}

func (a *Action) same(b *Action) bool {
	return a.Tool == b.Tool && a.Seed == b.Seed && a.Deadline == b.Deadline && a.Policy.Equal(&b.Policy) && a.Transport.Equal(&b.Transport)
}

// plain is the config of a run of which nothing is said but what it needs no config of the core for, and a seed. Compiled once. (By hand:
// the linker keeps all methods of a type that a generic helper such as sync.OnceValues is made for.)
var plain struct {
	once     sync.Once
	compiled *machine.Compiled
	err      error
}

func plainConfig() (*machine.Compiled, error) {
	plain.once.Do(func() {
		m := Config{}.machine(&options{})
		plain.compiled, plain.err = machine.Compile(&m, nil)
	})
	return plain.compiled, plain.err
}

// compile is the config of the core for a run, made ready.
func (c *Config) compile(o *options) (*machine.Compiled, error) {
	if c.isPlain() && o.prompt == nil && o.planner == nil {
		m, err := plainConfig()
		if err != nil {
			return nil, err
		}
		return m.Seeded(c.Seed), nil
	}
	m := c.machine(o)
	return machine.Compile(&m, c.Templates)
}

// isPlain reports whether all that the core is told of the config but its seed has its zero value.
func (c *Config) isPlain() bool {
	return c.Policy == nil && c.System == "" && c.Feedback == "" && c.Limits == nil && c.Deadline.IsZero() &&
		!c.CallsOnly && c.Consult == nil
}
