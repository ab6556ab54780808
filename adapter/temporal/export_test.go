package temporal

import (
	"go.temporal.io/api/history/v1"

	"github.com/retake-go/retake/loop/machine"
)

// Before is a worker of before some behaviours: it has only those given.
func Before(w Worker, has []machine.Behaviour) Worker {
	w.hooks.says = func(b *begun) { b.Behaviours = has }
	return w
}

// ReplayIgnoring replays as code does that has behaviours whatever the run began with.
func ReplayIgnoring(histories []*history.History, has []machine.Behaviour) error {
	return Export{}.explain(histories, hooks{begins: func(b *begun) { b.Behaviours = has }})
}
