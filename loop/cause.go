package loop

import (
	"maps"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
)

// why returns the Go error behind the end of the run, or nil if there is none, or if only the record has it.
func (p *process) why(o *machine.Outcome) error {
	switch {
	case o == nil, o.Exhaustion == nil && o.Cause == nil:
		return nil
	case o.Exhaustion == nil:
		return p.ending
	}
	return p.cause
}

// behind returns the Go error behind an exhaustion by an event, or nil.
func (p *process) behind(by machine.EventKind, x *machine.Question) error {
	switch {
	case by == machine.ReducersRan || x != nil && x.Cycle != nil:
		return nil // the cause is the reducer's error, or the cycle, and not that of the last call
	case x == nil || by != machine.Responded && by != machine.Woke && by != machine.Spoken:
		return p.err
	}
	// The event ended a call that a person was asked about. Other calls may have failed since then.
	for _, n := range slices.Sorted(maps.Keys(p.failed)) {
		if c := p.failed[n]; c.tool == x.Tool && c.class == x.Failure.Class && c.message == x.Failure.Message {
			return c.err
		}
	}
	return nil
}

// failedCall is a call that failed: its failure, as it is recorded, and the Go error behind it.
type failedCall struct {
	tool    string
	class   fault.Class
	message string
	err     error
}
