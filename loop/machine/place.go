package machine

import "slices"

// Room is memory in which the steps of one run are made one after the other, for drivers that are done with the effects of a
// step before they make the next: what [Room.Step] returns, and what that points to, is overwritten by the next step in the same
// room, and so are the actions, the batch and the outcome that the state points to. Who shows a state or effects to others, to be
// kept, goes on in another room and leaves this one as it is.
//
// The zero value is ready for use. A nil Room is none: each step has memory of its own, as that of [Step] has. A Room is for one
// goroutine at a time.
type Room struct {
	effects  [2]Effect
	decision Decision
	try      TryRun
	call     callRoom
	run      [1]ToolRun
	outcome  Outcome
	actions  twice[[]Action]
	batches  twice[*batchRoom]
	// at are the positions that were told last: never written to, for models see them.
	at []Position
}

// twice is memory for what the state has now, and for what it has after the next step.
type twice[T any] struct {
	of  [2]T
	now int
}

// free is that which the state has not.
func (t *twice[T]) free() *T { return &t.of[1-t.now] }

// Step is [Step] in place: it changes *st. Where it returns an error, *st is as it was. It keeps of ev what that points to, as Step
// does, and never changes it.
func (r *Room) Step(st *State, ev *Event) ([]Effect, error) {
	if why := st.misfit(ev); why != "" {
		return nil, &EventError{st.Phase, ev.Kind, why}
	}
	var out output
	r.lend(&out)
	before := *st
	if err := (&step{st, &out, ev}).take(); err != nil {
		*st = before
		return nil, err
	}
	r.settle(st, &out)
	if len(out.fx) == 0 {
		return nil, nil
	}
	return slices.Clip(out.fx), nil
}

// lend gives a step the memory that no state points to.
func (r *Room) lend(out *output) {
	if r == nil {
		return
	}
	out.room, out.fx = r, r.effects[:0]
	out.callRoom, out.tryRoom, out.decisionRoom, out.outcomeRoom, out.runRoom = &r.call, &r.try, &r.decision, &r.outcome, &r.run
}

// settle notes what the state points to after a step. What it pointed to before is free.
func (r *Room) settle(st *State, out *output) {
	if r == nil {
		return
	}
	if out.ownActions {
		if r.actions.now ^= 1; cap(st.Actions) > 0 {
			r.actions.of[r.actions.now] = st.Actions
		}
	}
	if out.ownBatch {
		r.batches.now ^= 1
	}
}

// copied is a copy of the actions, with room for more.
func (r *Room) copied(actions []Action, more int) []Action {
	if r == nil {
		return append(make([]Action, 0, len(actions)+more), actions...)
	}
	return append(slices.Grow((*r.actions.free())[:0], len(actions)+more), actions...)
}

// told is at, as it may be shown to models.
func (r *Room) told(at []Position) []Position {
	if r == nil {
		return at
	}
	if !slices.Equal(at, r.at) {
		r.at = slices.Clone(at)
	}
	return r.at
}

// batchRoom is a batch; most are of one call.
type batchRoom struct {
	Batch
	one [1]BatchCall
}

// batch returns room for a batch.
func (r *Room) batch() *batchRoom {
	if r == nil {
		b := new(batchRoom)
		b.Calls = b.one[:0]
		return b
	}
	at := r.batches.free()
	if *at == nil {
		*at = (*Room)(nil).batch()
	}
	return *at
}

// Clear lets go of all that the room holds, for the next run: what steps in it have returned, and the states that they led to, are
// of no use any more.
func (r *Room) Clear() {
	if r == nil {
		return
	}
	actions := r.actions
	for _, of := range actions.of {
		clear(of[:cap(of)])
	}
	*r = Room{actions: actions}
}
