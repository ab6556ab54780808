package loop

import (
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// NewActionRunner returns a runner for the tries of one action in s, for engines that bring their own clock: what [Attempts]
// is built on. Start asks for the first try; a [machine.Tried] event says what came of it. The rest is as for [NewRunner].
func NewActionRunner(s *session.Session, a *Action, record func(machine.Event, []machine.Effect, machine.State), opts ...Option) (*Runner, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	m, err := a.compile()
	if err != nil {
		return nil, err
	}
	return newRunner(s, Config{}, m, o, record)
}
