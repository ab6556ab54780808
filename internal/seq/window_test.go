package seq_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/seq"
)

func TestAWindowHasTheLastValuesWhateverItsSizeWasBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type state struct {
			w    seq.Window[int]
			want []int
		}
		first := rapid.SliceOfN(rapid.Int(), 0, 9).Draw(t, "first")
		states := []state{{}, {seq.WindowOf(first...), first}}
		for range rapid.IntRange(1, 60).Draw(t, "adds") {
			from := states[rapid.IntRange(0, len(states)-1).Draw(t, "continues")]
			value, size := rapid.Int().Draw(t, "value"), rapid.IntRange(1, 5).Draw(t, "size")
			want := append(slices.Clone(from.want), value)
			states = append(states, state{from.w.Add(value, size), want[max(0, len(want)-size):]})
		}
		for _, s := range states {
			require.Equal(t, len(s.want), s.w.Len())
			require.True(t, slices.Equal(s.want, s.w.Values()))
		}
	})
}

func TestAWindowLetsGoOfWhatIsBeforeIt(t *testing.T) {
	var w seq.Window[[]byte]
	for n := range 1000 {
		w = w.Add([]byte{byte(n)}, 4)
	}
	assert.LessOrEqual(t, cap(w.Values()), 8)
	assert.Less(t, testing.AllocsPerRun(1000, func() { w = w.Add(nil, 4) }), 1.0)
}
