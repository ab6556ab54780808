package seq_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/seq"
)

func TestALogIsItsMemoryAndItsLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := []seq.Log[int]{{}}
		for n := range rapid.IntRange(1, 60).Draw(t, "appends") {
			from := rapid.IntRange(0, len(logs)-1).Draw(t, "from")
			logs = append(logs, logs[from].Append(make([]int, rapid.IntRange(0, 3).Draw(t, "more"))...).Append(n))
		}
		for _, l := range logs {
			assert.Equal(t, l, l.Memory().Log(l.Len()))
			for _, o := range logs {
				if l.Memory() == o.Memory() && l.Len() <= o.Len() {
					assert.Equal(t, values(l), values(o)[:l.Len()], "one is the beginning of the other")
				}
			}
		}
	})
}

func TestAMemoryHasNoOtherLogs(t *testing.T) {
	var none seq.Memory[int]
	assert.Zero(t, none.Log(0))
	assert.PanicsWithValue(t, "seq: no log in this memory has length 1", func() { none.Log(1) })
	short := seq.Of(1, 2, 3)
	long := short.Append(4)
	assert.NotEqual(t, short.Memory(), long.Memory(), "there was no room for a fourth")
	for _, n := range []int{-1, 0, 4} {
		assert.Panics(t, func() { short.Memory().Log(n) }, n)
	}
	for _, n := range []int{0, 3, 5} {
		assert.Panics(t, func() { long.Memory().Log(n) }, n)
	}
}
