package loop

import "github.com/retake-go/retake/loop/machine"

// rooms are some that nobody has, in which there is nothing. In a [sync.Pool] they would be values of an interface, for which a
// program links every method of what they can hold.
var rooms = make(chan *machine.Room, 64)

// place is where a step is made that is not recorded. Only a driver, which looks at effects until it makes the next step, has a room.
func (r *Runner) place() *machine.Room {
	if r.driver == nil {
		return nil
	}
	if r.room == nil {
		select {
		case r.room = <-rooms:
		default:
			r.room = new(machine.Room)
		}
	}
	r.room.Unseen = r.driver.unseen && r.driver.adjust == nil && r.driver.planner == nil
	return r.room
}

// vacate empties room and scratch, and gives them back; a room that stays with its driver is kept. What the steps that were made there
// have returned is of no use any more.
func (r *Runner) vacate() {
	r.tidy()
	if r.room == nil {
		return
	}
	r.room.Clear()
	if r.driver.stays {
		return
	}
	select {
	case rooms <- r.room:
	default: // there are enough
	}
	r.room = nil
}

// stepHere is Step where nobody is told of each state.
func (r *Runner) stepHere(ev *machine.Event) ([]machine.Effect, error) {
	effects, err := r.place().Step(&r.st, ev)
	if err != nil {
		return nil, err
	}
	if err := r.s.Replace(r.st.Session); err != nil {
		return nil, err
	}
	if r.driver != nil {
		r.driver.observe(ev, effects)
	}
	return effects, nil
}
