package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/reducer"
)

// Reducer is a [reducer.Func] bound to a slice and an event by [On]. The zero value is invalid.
type Reducer struct {
	name  string
	event string
	slice declaration
	// run returns the operation of the reducer on a state.
	run func(in State, e Event) (reducer.Op, error)
}

// On binds a reducer to the events with a name. For each event the payload is decoded into a new E, and fn
// returns the change of the slice. Members of the payload that E does not have are ignored. reducerName
// appears in a [fault.ReducerError] and must be unique in the session. See [reducer.Func] for the rules of
// fn; fn must not change the session ([ErrReentrant]), and should read its slices through its view.
func On[T, E any](slice Slice[T], eventName, reducerName string, fn reducer.Func[T, E]) Reducer {
	bound := Reducer{name: reducerName, event: eventName, slice: slice.declaration()}
	if fn == nil {
		return bound
	}
	bound.run = func(in State, e Event) (reducer.Op, error) {
		payload, err := payloadOf(e)
		if err != nil {
			return reducer.Op{}, err
		}
		at, ok := in.find(slice.name)
		if !ok {
			return reducer.Op{}, badSlice(slice.name, errUnknown)
		}
		event, err := decode[E](payload)
		if err != nil {
			return reducer.Op{}, fmt.Errorf("the payload does not fit: %w", err)
		}
		change, err := fn(reducer.NewView[T]((*typed[T])(&in.slots[at])), event)
		if err != nil {
			return reducer.Op{}, err
		}
		op, err := reducer.Encode(slice.name, change)
		if err != nil {
			return reducer.Op{}, err
		}
		return op, slice.readsBack(&in.slots[at], op)
	}
	return bound
}

// readsBack returns why a slice cannot hold the result of an operation: its kind forbids the operation, or a
// value does not decode as T.
func (s Slice[T]) readsBack(in *slot, op reducer.Op) error {
	before := 0
	if op.Kind.Keeps() {
		before = in.held.Len()
	}
	held, err := in.changed(op)
	if err != nil {
		return badOp(0, op, err)
	}
	if i, err := verify[T](held, before); err != nil {
		return badValue(s.name, i, err)
	}
	return nil
}

// reduce runs the reducers that are bound to an event. Each sees the changes of those before it. After a
// failure it returns the old state and no operations. Operations that change nothing are left out.
func reduce(st State, all []Reducer, event Event) (State, []reducer.Op, *fault.ReducerError) {
	var ops []reducer.Op
	next := st
	for n := range all {
		if all[n].event != event.Name {
			continue
		}
		op, failure := all[n].call(next, event)
		if failure != nil {
			return st, nil, failure
		}
		if !op.Changes() {
			continue
		}
		var err error
		if next, err = next.apply(op); err != nil {
			return st, nil, refusal(&all[n], event, err)
		}
		ops = append(ops, op)
	}
	return next, ops, nil
}

// call runs the reducer and returns any error or panic as a failure, including panics while its values are
// encoded and decoded.
func (r *Reducer) call(in State, e Event) (op reducer.Op, failure *fault.ReducerError) {
	defer func() {
		if p := recover(); p != nil {
			failure = refusal(r, e, nil)
			failure.Message, failure.Panicked = fault.Scrub(fmt.Sprintf("panic: %v", p)), true
		}
	}()
	op, err := r.run(in, e)
	if err != nil {
		failure = refusal(r, e, err)
	}
	return op, failure
}

func refusal(r *Reducer, e Event, cause error) *fault.ReducerError {
	cause = chain.Bounded(cause)
	payload, _ := payloadOf(e) // the beginning of an invalid payload
	failure := &fault.ReducerError{Reducer: r.name, Payload: string(payload), Cause: cause}
	if cause != nil {
		failure.Message = cmp.Or(fault.Scrub(cause.Error()), wordless)
	}
	return failure
}

const wordless = "an error without a message"

// Apply returns s with all operations applied in order. If one does not fit, Apply returns s unchanged and an
// error that names the operation. Values are copied in canonical form; their Go types are not checked.
func (s State) Apply(ops []reducer.Op) (State, error) {
	next := s
	for i, op := range ops {
		op, cause := canonical(op)
		if cause == nil {
			next, cause = next.apply(op)
		}
		if cause != nil {
			return s, badOp(i, op, cause)
		}
	}
	return next, nil
}

// canonical returns the operation with copied values in canonical form.
func canonical(op reducer.Op) (reducer.Op, error) {
	values := make([]json.RawMessage, len(op.Values))
	for i, v := range op.Values {
		raw, err := canon.JSON(v)
		if err != nil {
			return op, err
		}
		values[i] = raw
	}
	op.Values = values
	return op, nil
}

// apply applies one operation with canonical values.
func (s State) apply(op reducer.Op) (State, error) {
	if err := op.Validate(); err != nil {
		return s, err
	}
	if reserved(op.Slice) {
		return s, errBuiltin
	}
	at, ok := s.find(op.Slice)
	if !ok {
		return s, errUnknown
	}
	held, err := s.slots[at].changed(op)
	if err != nil || !op.Changes() {
		return s, err
	}
	s.slots = slices.Clone(s.slots)
	s.slots[at].held = held
	return s, nil
}

// same compares values. What a reducer made is appended when it is tried, and again when the core applies it.
func same(a, b json.RawMessage) bool { return bytes.Equal(a, b) }

// changed returns the values of a slice after an operation.
func (s *slot) changed(op reducer.Op) (values, error) {
	switch {
	case op.Kind.Keeps():
		return s.held.AppendAgain(same, op.Values...), nil
	case s.kind == KindLog:
		return s.held, errLogSlice
	}
	return seq.Of(op.Values...), nil
}
