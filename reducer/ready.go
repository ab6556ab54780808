package reducer

// Ready-made reducers, for events that have the type of the slice's values.

// Appending returns a reducer that appends each event. It works for log and state slices.
func Appending[T any]() Func[T, T] {
	return func(_ View[T], e T) (Change[T], error) { return Append(e), nil }
}

// Latest returns a reducer for a state slice that keeps only the latest event.
func Latest[T any]() Func[T, T] {
	return func(_ View[T], e T) (Change[T], error) { return Replace(e), nil }
}
