package loop

import "github.com/retake-go/retake/loop/machine"

// compile is the config of the core for the action, made ready.
func (a *Action) compile() (*machine.Compiled, error) {
	if a == nil {
		return nil, errNoAction
	}
	m := a.machine()
	return machine.Compile(&m, nil)
}

// compile is the config of the core for a run, made ready.
func (c *Config) compile(o *options) (*machine.Compiled, error) {
	m := c.machine(o)
	return machine.Compile(&m, c.Templates)
}
