package machine

import (
	"slices"

	"github.com/retake-go/retake/feedback"
)

// Room is memory in which the steps of one run are made one after the other, for drivers that are done with the effects of a
// step before they make the next: what [Room.Step] returns, and what that points to, is overwritten by the next step in the same
// room, and so are the actions, the batch, the tools' spent budgets and the outcome that the state points to. Only the calls of tools and
// the positions that models are told are not. Who shows a state or effects to others, to be kept, goes on in another room and leaves this one as it is.
//
// The zero value is ready for use. A nil Room is none: each step has memory of its own, as that of [Step] has. A Room is for one
// goroutine at a time.
type Room struct {
	// Unseen says that nobody is shown the states that the steps lead to, and that no policy is adjusted. The signatures of failures,
	// which only the no-progress rule reads, are then not made where the policy has no such rule.
	Unseen bool

	// sure is set in a step that is not refused.
	sure bool

	effects  [2]Effect
	decision Decision
	try      TryRun
	call     ModelCall
	outcome  Outcome
	actions  twice[Action]
	spent    twice[ToolSpent]
	// batches are the state's, where it has it from here, and one that is free.
	batches [2]*batchRoom
	// at are the positions that were told last: never written to, for models see them.
	at []Position
	// positions and schedules are memory of which nobody has seen anything yet, in whatever run.
	positions []Position
	schedules []feedback.Schedule
}

// piece is for how many small values memory is made at once that others keep.
const piece = 8

// twice is memory for a list of the state, and for the next one.
type twice[T any] struct{ now, next []T }

// copied is a copy of a list; where own is nil, in memory of its own with room for more. Where nobody goes back to it, the list that
// the state has from here is its own copy.
func copied[T any](own *twice[T], list []T, more int, sure bool) []T {
	switch {
	case own == nil:
		return append(make([]T, 0, len(list)+more), list...)
	case sure && sameMemory(list, own.now):
		return list
	}
	own.next = append(own.next[:0], list...)
	return own.next
}

// swap notes that the state has a list that was copied, and may have grown; an empty one may be nil.
func (t *twice[T]) swap(list []T) {
	switch {
	case sameMemory(list, t.now):
		t.now = list
		return
	case cap(list) > 0:
		t.next = list
	}
	t.now, t.next = t.next, t.now
}

// sameMemory reports whether two lists begin at the same place.
func sameMemory[T any](a, b []T) bool { return cap(a) > 0 && cap(b) > 0 && &a[:1][0] == &b[:1][0] }

// maxKept bounds the lists whose memory is kept for the next run.
const maxKept = 32

// emptied is a list's memory, in which there is nothing; nil where that is too much to keep.
func emptied[T any](list []T) []T {
	if cap(list) > maxKept {
		return nil
	}
	clear(list[:cap(list)])
	return list[:0]
}

func (t *twice[T]) clear() { t.now, t.next = emptied(t.now), emptied(t.next) }

// Step is [Step] in place: it changes *st. Where it returns an error, *st is as it was. It keeps of ev what that points to, as Step
// does, and never changes it.
func (r *Room) Step(st *State, ev *Event) ([]Effect, error) {
	if why := st.misfit(ev); why != "" {
		return nil, &EventError{st.Phase, ev.Kind, why}
	}
	sure := st.sure(ev)
	if r != nil {
		r.sure = sure
	}
	if sure { // there is nothing to go back to
		return r.step(st, ev)
	}
	before := *st
	effects, err := r.step(st, ev)
	if err != nil {
		*st = before
	}
	return effects, err
}

// step is Step of an event that fits. Where it returns an error, *st is of no use.
func (r *Room) step(st *State, ev *Event) ([]Effect, error) {
	var out output
	r.lend(&out)
	if err := (&step{st, &out, ev}).take(); err != nil {
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
	out.tryRoom, out.decisionRoom, out.outcomeRoom = &r.try, &r.decision, &r.outcome
}

// settle notes what the state points to after a step. What it pointed to before is free.
func (r *Room) settle(st *State, out *output) {
	if r == nil {
		return
	}
	if out.ownActions {
		r.actions.swap(st.Actions)
	}
	if out.ownSpent {
		r.spent.swap(st.Spent.Tools)
	}
	if out.ownBatch {
		r.batches[0], r.batches[1] = r.batches[1], r.batches[0]
	}
}

// copyActions and copySpent return lists that a step may write to.
func (r *Room) copyActions(list []Action, more int) []Action {
	if r == nil {
		return copied(nil, list, more, false)
	}
	return copied(&r.actions, list, more, r.sure)
}

func (r *Room) copySpent(list []ToolSpent) []ToolSpent {
	if r == nil {
		return copied(nil, list, 1, false)
	}
	return copied(&r.spent, list, 1, r.sure)
}

// told is at, as it may be shown to models.
func (r *Room) told(at []Position) []Position {
	if slices.Equal(at, r.at) {
		return r.at
	}
	if len(r.positions) < len(at) {
		r.positions = make([]Position, max(piece, len(at)))
	}
	r.at, r.positions = r.positions[:len(at):len(at)], r.positions[len(at):]
	copy(r.at, at)
	return r.at
}

// schedule is memory for a schedule that the session keeps; nil without a room.
func (r *Room) schedule() *feedback.Schedule {
	if r == nil {
		return nil
	}
	if len(r.schedules) == 0 {
		r.schedules = make([]feedback.Schedule, piece)
	}
	own := &r.schedules[0]
	r.schedules = r.schedules[1:]
	return own
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
	if r.batches[1] == nil {
		r.batches[1] = (*Room)(nil).batch()
	}
	return r.batches[1]
}

// Clear lets go of all that the room holds, for the next run: what steps in it have returned, and the states that they led to, are
// of no use any more.
func (r *Room) Clear() {
	if r == nil {
		return
	}
	r.actions.clear()
	r.spent.clear()
	for _, b := range r.batches {
		if b != nil {
			b.Calls, b.one = emptied(b.Calls), [1]BatchCall{}
		}
	}
	clear(r.effects[:])
	r.decision, r.try, r.call, r.outcome = Decision{}, TryRun{}, ModelCall{}, Outcome{}
	r.Unseen, r.at = false, nil
}
