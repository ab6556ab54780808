package seq_test

import (
	"fmt"

	"github.com/retake-go/retake/internal/seq"
)

func Example() {
	said := seq.Of("hello")
	one, other := said.Append("left"), said.Append("right")
	fmt.Println(said.Slice(0, said.Len()), one.Slice(0, one.Len()), other.Slice(0, other.Len()))
	// Output: [hello] [hello left] [hello right]
}
