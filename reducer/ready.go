package reducer

import "fmt"

// Ready-made reducers, for events that have the type of the slice's values.

// Appending returns a reducer that appends each event. It works for log and state slices.
func Appending[T any]() Func[T, T] {
	return func(_ View[T], e T) (Change[T], error) { return Append(e), nil }
}

// Latest returns a reducer for a state slice that keeps only the latest event.
func Latest[T any]() Func[T, T] {
	return func(_ View[T], e T) (Change[T], error) { return Replace(e), nil }
}

// Upserting returns a reducer for a state slice with one value per key. An event replaces the value with the
// same key, or is appended if there is none.
func Upserting[T any, K comparable](key func(T) K) Func[T, T] {
	return func(view View[T], e T) (Change[T], error) {
		for at, v := range view.All() {
			if key(v) == key(e) {
				held := None[T]().Apply(view)
				held[at] = e
				return Replace(held...), nil
			}
		}
		return Append(e), nil
	}
}

// Counting returns a reducer for a state slice with one number: the sum of by over all events. If by is nil,
// each event counts as 1. The slice is empty before the first event.
func Counting[E any](by func(E) int) Func[int, E] {
	return func(view View[int], e E) (Change[int], error) {
		more := 1
		if by != nil {
			more = by(e)
		}
		sum, _ := view.Last()
		return Replace(sum + more), nil
	}
}

// Window returns a reducer for a state slice with the last n events, oldest first. It panics if n is less
// than 1.
func Window[T any](n int) Func[T, T] {
	if n < 1 {
		panic(fmt.Sprintf("reducer.Window(%d): give 1 or more", n))
	}
	return func(view View[T], e T) (Change[T], error) {
		if view.Len() < n {
			return Append(e), nil
		}
		held := append(None[T]().Apply(view), e)
		return Replace(held[len(held)-n:]...), nil
	}
}
