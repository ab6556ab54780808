package reducer

import "fmt"

// Ready-made reducers, for the events whose payload is what the slice holds.

// Appending is a reducer that appends each event. It suits log and state slices.
func Appending[T any]() Func[T, T] {
	return func(_ View[T], e T) (Change[T], error) { return Append(e), nil }
}

// Latest is a reducer of a state slice that holds the latest event alone.
func Latest[T any]() Func[T, T] {
	return func(_ View[T], e T) (Change[T], error) { return Replace(e), nil }
}

// Upserting is a reducer of a state slice that holds one value for each key: an event takes the place of the
// value with its key, or is appended where there is none.
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

// Counting is a reducer of a state slice that holds one number, the sum of what by says of each event; nil counts
// each as 1. Before the first event the slice is empty.
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

// Window is a reducer of a state slice that holds the last n events, the oldest first. It panics where n is less
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
