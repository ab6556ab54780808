package reducer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

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

func ExampleUpserting() {
	bySKU := func(l Line) string { return l.SKU }
	fmt.Println(fold(reducer.Upserting(bySKU), Line{"tea", 1}, Line{"cup", 2}, Line{"tea", 3}))
	// Output: [{tea 3} {cup 2}]
}

func ExampleCounting() {
	fmt.Println(fold(reducer.Counting[ItemAdded](nil), ItemAdded{"tea", 1}, ItemAdded{"cup", 2}))
	fmt.Println(fold(reducer.Counting(func(e ItemAdded) int { return e.Qty }), ItemAdded{"tea", 1}, ItemAdded{"cup", 2}))
	// Output:
	// [2]
	// [3]
}

func ExampleWindow() {
	fmt.Println(fold(reducer.Window[int](3), 1, 2, 3, 4, 5))
	// Output: [3 4 5]
}

func TestReadyMadeReducersWriteNothing(t *testing.T) {
	held := []Line{{"tea", 1}, {"cup", 2}}
	for name, fn := range map[string]reducer.Func[Line, Line]{
		"upserting": reducer.Upserting(func(l Line) string { return l.SKU }), "window": reducer.Window[Line](2),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := fn(reducer.ViewOf(held...), Line{"tea", 9})
			assert.NoError(t, err)
			assert.Equal(t, []Line{{"tea", 1}, {"cup", 2}}, held)
		})
	}
	assert.PanicsWithValue(t, "reducer.Window(0): give 1 or more", func() { reducer.Window[int](0) })
}
