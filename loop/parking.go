package loop

import (
	"context"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// parking holds a run while nobody works on it: the core's state, and what most runs have nothing of.
type parking struct {
	// parked is the state; nil while somebody works on the run.
	parked *machine.State
	rare   *rare
}

// rare is what a driver remembers beside the state.
type rare struct {
	// next is the effect that is to be carried out next; nil for the end of the wait.
	next       *machine.Effect
	err, cause error
	asked      map[int]broke
	adjusted   *policy.Layer
	past       map[string]pastCall
	refused    *fault.ReducerError
	warnings   []string
	unrecorded bool
	// values are those of the tracers, end tells them of the end of the run.
	values context.Context
	end    func(*machine.Outcome, error)
}

func (r *rare) isZero() bool {
	return r.next == nil && r.err == nil && r.cause == nil && r.asked == nil && r.adjusted == nil && r.past == nil && r.refused == nil &&
		r.warnings == nil && !r.unrecorded && r.end == nil
}

// park keeps what the run needs when it goes on with what is asked for, nil for the end of its wait. The driver is done with the run.
func (b *parking) park(d *driver, asked *machine.Effect) {
	st := d.runner.st
	b.parked = &st
	r := rare{
		next: asked, err: d.err, cause: d.cause, asked: d.asked, adjusted: d.adjusted, past: d.runner.past, refused: d.runner.refused,
		warnings: d.runner.warnings, unrecorded: d.runner.unrecorded,
	}
	if r.next == nil && d.asked == nil {
		r.err = nil // it was that of the event before the wait, and is that of no event after it
	}
	if b.rare != nil {
		r.values, r.end = b.rare.values, b.rare.end
	}
	b.rare = nil
	if !r.isZero() {
		b.rare = &r
	}
}

// unpark gives a new driver what was kept, and returns what is to be done next.
func (b *parking) unpark(d *driver, j recorder) machine.Effect {
	r := d.ownRunner()
	r.st, r.journal = *b.parked, j
	b.parked, d.runner, d.last = nil, r, r.st.At
	if x := b.rare; x != nil {
		d.err, d.cause, d.asked, d.adjusted = x.err, x.cause, x.asked, x.adjusted
		r.past = x.past
		r.refused, r.warnings, r.unrecorded = x.refused, x.warnings, x.unrecorded
	}
	return b.next(&r.st)
}

// next is what is to be done next in a state.
func (b *parking) next(st *machine.State) machine.Effect {
	if b.rare != nil && b.rare.next != nil {
		return *b.rare.next
	}
	return st.Pending()
}
