package session

import (
	"cmp"
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/flat"
	"github.com/retake-go/retake/reducer"
)

// Reducer is a [reducer.Func] bound to a slice and an event by [On]. The zero value is invalid.
type Reducer struct {
	name  string
	event string
	slice declaration
	// run is what fn wants of an event where a state has these slots; told is set where somebody wants the operation.
	run func(slots []slot, e Event, told bool) (wish, error)
}

// wish is what a reducer wants done: nothing where there is no kind.
type wish struct {
	// op has values where they were asked for.
	op reducer.Op
	// at is where the slice stands, and held what it then holds.
	at   int
	held entries
}

// On binds a reducer to the events of a name: for each, the payload is decoded into a fresh E and fn says how the slice
// changes. Members of the payload that E does not have are passed over. reducerName is what a [fault.ReducerError] names; it
// is the only one of its name in a session. See [reducer.Func] for what fn may and may not do; it must not call the session.
func On[T, E any](slice Slice[T], eventName, reducerName string, fn reducer.Func[T, E]) Reducer {
	bound := Reducer{name: reducerName, event: eventName, slice: slice.declaration()}
	if fn == nil {
		return bound
	}
	written := flat.Of[E]()
	bound.run = func(slots []slot, e Event, told bool) (wish, error) {
		at, ok := find(slots, slice.name)
		if !ok {
			_, err := e.payload()
			return wish{}, cmp.Or[error](err, &SliceError{Slice: slice.name, Cause: ErrUnknownSlice})
		}
		event, err := hear[E](e, written)
		if err != nil {
			return wish{}, err
		}
		change, err := fn(reducer.NewView[T]((*typed[T])(&slots[at])), event)
		if err != nil {
			return wish{}, err
		}
		want, err := slice.wanted(&slots[at], &change, told)
		want.at = at
		return want, err
	}
	return bound
}

// hear reads the payload of an event. One that is not written as a flat one is brought into canonical form first.
func hear[E any](e Event, written *flat.Type) (event E, err error) {
	if event, ok := flat.Read[E](written, e.Payload); ok {
		return event, nil
	}
	payload, err := e.payload()
	if err != nil {
		return event, err
	}
	if event, err = flat.Unmarshal[E](written, payload); err != nil {
		return event, fmt.Errorf("the payload does not fit: %w", err)
	}
	return event, nil
}

// reduce runs the reducers of an event, each on what those before it made of the slots. After a failure there are neither
// operations nor new slots. Where told is set, all operations are returned.
func reduce(slots []slot, bound []Reducer, event Event, told bool) ([]slot, []reducer.Op, *fault.ReducerError) {
	var ops []reducer.Op
	next := slots
	for n := range bound {
		want, failure := bound[n].call(next, event, told)
		switch {
		case failure != nil:
			return slots, nil, failure
		case want.op.Kind == "":
			continue
		case told:
			ops = append(ops, want.op)
		}
		next = holding(next, want.at, want.held)
	}
	return next, ops, nil
}

// call runs the reducer, and turns whatever goes wrong into a failure: also a panic, be it in the reducer or in how its values
// are written and read back.
func (r *Reducer) call(slots []slot, e Event, told bool) (want wish, failure *fault.ReducerError) {
	defer func() {
		if p := recover(); p != nil {
			failure = refusal(r, e, nil)
			failure.Message, failure.Panicked = bounded(fmt.Sprintf("panic: %v", p)), true
		}
	}()
	want, err := r.run(slots, e, told)
	if err != nil {
		failure = refusal(r, e, err)
	}
	return want, failure
}

func refusal(r *Reducer, e Event, cause error) *fault.ReducerError {
	payload, _ := e.payload() // of one that is not usable, its beginning
	failure := &fault.ReducerError{Reducer: r.name, Payload: string(payload), Cause: cause}
	if cause != nil {
		failure.Message = cmp.Or(bounded(cause.Error()), wordless)
	}
	return failure
}

// wordless is the message of an error that has none: operators and models are told something all the same.
const wordless = "an error without a message"

// maxMessage bounds the message of a reducer error, in bytes.
const maxMessage = 4096

// bounded is a message as UTF-8 of at most maxMessage bytes.
func bounded(message string) string {
	if len(message) <= maxMessage {
		return canon.UTF8(message)
	}
	const mark = "…"
	cut := maxMessage - len(mark)
	for cut > maxMessage-8 && message[cut]&0xC0 == 0x80 { // within a rune
		cut--
	}
	return bounded(canon.UTF8(message[:cut]) + mark)
}
