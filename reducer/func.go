package reducer

// Func is a reducer: it takes the values of its slice and one event, and returns a change of the slice, or an
// error that says why the event is refused. It must be pure and must not write to the view's values or the
// event. It may be called for events that are never applied (a what-if). To change nothing, return [None].
type Func[T, E any] func(View[T], E) (Change[T], error)

// Appending returns a reducer that appends each event. It works for log and state slices.
func Appending[T any]() Func[T, T] {
	return func(_ View[T], e T) (Change[T], error) { return Append(e), nil }
}

// Latest returns a reducer for a state slice that keeps only the latest event.
func Latest[T any]() Func[T, T] {
	return func(_ View[T], e T) (Change[T], error) { return Replace(e), nil }
}
