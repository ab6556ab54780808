package loop

import (
	"reflect"
	"slices"
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
	// apart is set where the action shares nothing with the user's, and so can stand for others that say the same.
	apart bool
}

// madeActions are some that were compiled last: a program that makes an action for each use of it makes few that are not the same.
var madeActions struct {
	made [8]atomic.Pointer[madeOf]
	next atomic.Uint32
}

// compile is the config of the core for the action, made ready: once, as long as the action stays as it is, or is that of another.
func (a *Action) compile() (*machine.Compiled, error) {
	if a == nil {
		return nil, errNoAction
	}
	if a.made == nil {
		m := a.machine()
		return machine.Compile(&m, nil)
	}
	m := a.made.last.Load()
	if m == nil || !m.action.same(a) {
		return a.compileFirst()
	}
	if m.apart { // it is used again: what shares its lists is looked at quicker
		a.made.last.Store(&madeOf{action: *a, compiled: m.compiled})
	}
	return m.compiled, nil
}

// compileFirst compiles an action at its first use, unless one that says the same was compiled of late. One with a deadline is not
// likely to be said again.
func (a *Action) compileFirst() (*machine.Compiled, error) {
	for n := range madeActions.made {
		if m := madeActions.made[n].Load(); m != nil && m.action.same(a) {
			a.made.last.Store(m)
			return m.compiled, nil
		}
	}
	own := &madeOf{apart: true, action: *a}
	own.action.made, own.action.Policy, own.action.Transport = nil, a.Policy.Clone(), a.Transport.Clone()
	m := own.action.machine()
	c, err := machine.Compile(&m, nil)
	if err != nil {
		return nil, err
	}
	own.compiled = c
	a.made.last.Store(own)
	if a.Deadline.IsZero() {
		n := int(madeActions.next.Add(1)) % len(madeActions.made)
		madeActions.made[n].Store(own)
	}
	return c, nil
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
	if c.Policy == nil || c.Templates != nil && !reflect.ValueOf(c.Templates).Comparable() { // an engine with a slice in it
		m := c.machine(o)
		return machine.Compile(&m, c.Templates)
	}
	return c.compileOnce(o)
}

// madeRun is a config as it was, with what a run needs of the options, and what both were compiled to.
type madeRun struct {
	cfg             Config
	prompt, planner bool
	compiled        *machine.Compiled
}

// madeRuns are some that were used last: a program mostly has one or two.
var madeRuns struct {
	made [4]atomic.Pointer[madeRun]
	next atomic.Uint32
}

// compileOnce compiles a config with a policy and an engine that can be compared, unless one that is the same was compiled before.
func (c *Config) compileOnce(o *options) (*machine.Compiled, error) {
	for n := range madeRuns.made {
		if m := madeRuns.made[n].Load(); m != nil && m.fits(c, o) {
			return m.compiled.Seeded(c.Seed).Until(c.Deadline), nil
		}
	}
	own := Config{
		CallsOnly: c.CallsOnly, Policy: c.Policy.Clone(), Seed: c.Seed, System: c.System, Feedback: c.Feedback, Templates: c.Templates,
		Limits: c.Limits, Deadline: c.Deadline, Consult: slices.Clone(c.Consult),
	}
	if c.Limits != nil {
		own.Limits = new(*c.Limits)
	}
	m := own.machine(o)
	compiled, err := machine.Compile(&m, c.Templates)
	if err == nil {
		n := int(madeRuns.next.Add(1)) % len(madeRuns.made)
		madeRuns.made[n].Store(&madeRun{own, o.prompt != nil, o.planner != nil, compiled})
	}
	return compiled, err
}

// fits reports whether the core would be told the same of another config, but for seed and deadline.
func (m *madeRun) fits(c *Config, o *options) bool {
	own := &m.cfg
	return m.prompt == (o.prompt != nil) && m.planner == (o.planner != nil) && own.CallsOnly == c.CallsOnly && own.System == c.System &&
		own.Feedback == c.Feedback && own.Templates == c.Templates && (own.Limits == nil) == (c.Limits == nil) &&
		(c.Limits == nil || *own.Limits == *c.Limits) && (own.Consult == nil) == (c.Consult == nil) && slices.Equal(own.Consult, c.Consult) &&
		own.Policy.Equal(c.Policy)
}

// isPlain reports whether all that the core is told of the config but its seed has its zero value.
func (c *Config) isPlain() bool {
	return c.Policy == nil && c.System == "" && c.Feedback == "" && c.Limits == nil && c.Deadline.IsZero() &&
		!c.CallsOnly && c.Consult == nil
}
