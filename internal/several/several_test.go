package several_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/several"
)

func ExampleOf() {
	fmt.Println(several.Of(1, "reply"))
	fmt.Println(several.Of(3, "reply"))
	fmt.Println(several.Of(2, "process"))
	// Output:
	// 1 reply
	// 3 replies
	// 2 processes
}

func TestOf(t *testing.T) {
	for n, want := range map[int64]string{0: "0 runs", 1: "1 run", 2: "2 runs", -1: "-1 runs", 1 << 40: "1099511627776 runs"} {
		assert.Equal(t, want, several.Of(n, "run"))
	}
}

func TestLowIsLessThanATenth(t *testing.T) {
	for of := range 200 {
		for left := range of + 1 {
			assert.Equal(t, 10*left < of, several.Low(left, of), "%d of %d", left, of)
		}
	}
	assert.True(t, several.Low[int64](math.MaxInt64/10, math.MaxInt64))
	assert.False(t, several.Low[int64](math.MaxInt64/10+1, math.MaxInt64))
}
