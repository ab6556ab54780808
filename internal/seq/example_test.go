package seq_test

import (
	"fmt"

	"github.com/retake-go/retake/internal/seq"
)

func Example() {
	said := seq.Of("hello")
	one, other := said.Append("left"), said.Append("right")
	fmt.Println(said.From(0), one.From(0), other.From(0))
	// Output: [hello] [hello left] [hello right]
}
