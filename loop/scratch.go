package loop

import (
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// scratches are some that nobody has, in which there is nothing; see [rooms].
var scratches = make(chan *scratch, 64)

// scratch is where the driver of a run works on what comes in.
type scratch struct {
	checked [1]tool.Checked
	// reading and end are the events that are fed, where nobody keeps them: each has one place, and is written over.
	reading reading
	end     callEnd
}

// reading is a reply that was read, and what it mostly points to.
type reading struct {
	machine.Reply
	answer  machine.Answer
	reduced machine.Reduced
	one     [1]machine.Call // most replies have one call
	// ready are the good calls, by place: see [tool.Set.PrepareIn].
	ready []*tool.Ready
}

// callEnd is the end of a call, and what it mostly points to.
type callEnd struct {
	machine.ToolEnd
	reduced machine.Reduced
}

// newReading is where the next reply is read. No call runs then.
func (r *Runner) newReading() *reading {
	if r.driver == nil {
		return new(reading)
	}
	if r.scratch == nil {
		select {
		case r.scratch = <-scratches:
		default:
			r.scratch = new(scratch)
		}
	}
	if r.keeps() {
		return new(reading)
	}
	r.scratch.reading.ready = nil
	return &r.scratch.reading
}

// tidy empties the scratch, and gives it back. What was fed from it is of no use any more.
func (r *Runner) tidy() {
	if r.scratch == nil {
		return
	}
	*r.scratch = scratch{}
	select {
	case scratches <- r.scratch:
	default: // there are enough
	}
	r.scratch = nil
}

// newCallEnd is where the end of the next call is made. Others may run.
func (r *Runner) newCallEnd() *callEnd {
	if r.scratch == nil || r.keeps() {
		return new(callEnd)
	}
	return &r.scratch.end
}

// keeps reports whether somebody may keep the events of a run.
func (r *Runner) keeps() bool { return r.journal != nil || r.record != nil }
