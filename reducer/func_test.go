package reducer_test

import (
	"fmt"

	"github.com/retake-go/retake/reducer"
)

// fold returns the values of a slice after the events.
func fold[T, E any](fn reducer.Func[T, E], events ...E) []T {
	held := []T{}
	for _, e := range events {
		change, err := fn(reducer.ViewOf(held...), e)
		if err != nil {
			panic(err)
		}
		held = change.Apply(reducer.ViewOf(held...))
	}
	return held
}

func ExampleAppending() {
	fmt.Println(fold(reducer.Appending[string](), "a", "b", "a"))
	// Output: [a b a]
}

func ExampleLatest() {
	fmt.Println(fold(reducer.Latest[string](), "draft", "paid"))
	// Output: [paid]
}
