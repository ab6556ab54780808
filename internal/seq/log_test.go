package seq_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/internal/seq"
)

func values[T any](l seq.Log[T]) []T {
	out := []T{}
	for _, v := range l.All() {
		out = append(out, v)
	}
	return out
}

func TestZeroValueIsEmpty(t *testing.T) {
	var l seq.Log[int]
	_, ok := l.Last()
	assert.False(t, ok)
	assert.Zero(t, l.Len())
	assert.Empty(t, values(l))
	assert.Empty(t, l.Slice(0, 0))
	assert.Equal(t, l, l.Append(), "appending nothing changes nothing")
	assert.Panics(t, func() { l.At(0) })
}

func TestReading(t *testing.T) {
	l := seq.Of("a", "b", "c")
	last, ok := l.Last()
	require.True(t, ok)
	assert.Equal(t, "c", last)
	assert.Equal(t, "b", l.At(1))
	assert.Equal(t, []string{"b", "c"}, l.Slice(1, 3))

	back := []string{}
	for i, v := range l.Backward() {
		assert.Equal(t, l.At(i), v)
		back = append(back, v)
		if v == "b" {
			break
		}
	}
	assert.Equal(t, []string{"c", "b"}, back)

	for i := range l.All() {
		if i == 1 {
			break
		}
		assert.Zero(t, i)
	}
}

func TestOutOfRangePanics(t *testing.T) {
	l := seq.Of(1, 2, 3) // the block has room for more: the room is not the log's
	cases := map[string]func(){
		"at_the_end":     func() { l.At(3) },
		"negative":       func() { l.At(-1) },
		"slice_past_end": func() { l.Slice(0, 4) },
		"slice_reversed": func() { l.Slice(2, 1) },
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) { assert.Panics(t, f) })
	}
}

func TestAppendingToASliceCopies(t *testing.T) {
	l := seq.Of(1, 2)
	longer := l.Append(3)
	_ = append(l.Slice(0, 2), 99)
	assert.Equal(t, []int{1, 2, 3}, values(longer))
}

func TestAppendedValuesAreCopied(t *testing.T) {
	in := []int{1, 2}
	l := seq.Of(in...)
	in[0] = 99
	assert.Equal(t, []int{1, 2}, values(l))
}

// Each log holds exactly its own appends, however it is read and whatever is appended to others.
func TestBranchesNeverSeeEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := []seq.Log[int]{{}}
		model := [][]int{{}}
		next := 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			from := rapid.IntRange(0, len(logs)-1).Draw(t, "from")
			added := make([]int, rapid.IntRange(0, 40).Draw(t, "added"))
			for i := range added {
				next++
				added[i] = next
			}
			logs = append(logs, logs[from].Append(added...))
			model = append(model, append(slices.Clone(model[from]), added...))
		}
		for i, l := range logs {
			from := rapid.IntRange(0, l.Len()).Draw(t, "slice from")
			to := rapid.IntRange(from, l.Len()).Draw(t, "slice to")
			checkHolds(t, l, model[i], from, to)
		}
	})
}

// checkHolds reads a log in every way.
func checkHolds(t require.TestingT, l seq.Log[int], want []int, from, to int) {
	require.Equal(t, len(want), l.Len())
	require.Equal(t, append([]int{}, want...), values(l))
	require.True(t, slices.Equal(want, l.Slice(0, l.Len())))
	part := l.Slice(from, to)
	require.True(t, slices.Equal(want[from:to], part))
	require.Equal(t, len(part), cap(part), "there is no room to write to")
	at := l.Len()
	for i, v := range l.Backward() {
		at--
		require.Equal(t, at, i)
		require.Equal(t, want[i], v)
		require.Equal(t, v, l.At(i))
	}
	require.Zero(t, at)
	last, ok := l.Last()
	require.Equal(t, len(want) > 0, ok)
	require.True(t, !ok || last == want[len(want)-1])
}

// A log needs few memory blocks, even if other logs branch off at every value.
func TestBlocksAreFew(t *testing.T) {
	for name, c := range map[string]struct{ branches, length, most int }{
		"a line":             {0, 100_000, 70},
		"one branch each":    {1, 10_000, 100},
		"several each":       {3, 10_000, 100},
		"short":              {0, 6, 2},
		"short and branched": {2, 6, 6},
	} {
		t.Run(name, func(t *testing.T) {
			var l seq.Log[int]
			for i := range c.length {
				for range c.branches {
					l.Append(-1)
				}
				l = l.Append(i)
			}
			assert.LessOrEqual(t, seq.Blocks(l), c.most)
			for i, v := range l.All() {
				require.Equal(t, i, v)
			}
			assert.Equal(t, 0, l.At(0))
		})
	}
}

// Many goroutines append to one log while others read it and its branches.
func TestConcurrentBranches(t *testing.T) {
	base := seq.Of(0, 1, 2)
	var wg sync.WaitGroup
	branches := make([]seq.Log[int], 16)
	for g := range branches {
		wg.Go(func() {
			l := base
			for i := range 200 {
				l = l.Append(1000*(g+1) + i)
				last, _ := l.Last()
				if last != 1000*(g+1)+i || base.At(2) != 2 {
					t.Errorf("branch %d reads %d after appending %d", g, last, 1000*(g+1)+i)
				}
			}
			branches[g] = l
		})
	}
	wg.Wait()
	for g, l := range branches {
		require.Equal(t, 203, l.Len())
		for i, v := range l.All() {
			if i >= 3 {
				require.Equal(t, 1000*(g+1)+i-3, v)
			}
		}
	}
	assert.Equal(t, []int{0, 1, 2}, values(base))
}

func TestReadingAllocatesNothing(t *testing.T) {
	l := seq.Of(make([]int, 1000)...)
	sum := 0
	got := testing.AllocsPerRun(20, func() {
		for _, v := range l.All() {
			sum += v
		}
		for _, v := range l.Backward() {
			sum += v
		}
		last, _ := l.Last()
		sum += last + len(l.Slice(10, 20)) + l.At(7)
	})
	assert.Zero(t, got)
}

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	var l seq.Log[[4]int]
	for i := range b.N {
		l = l.Append([4]int{i})
	}
	if l.Len() != b.N {
		b.Fatal(l.Len())
	}
}

func BenchmarkAll(b *testing.B) {
	l := seq.Of(make([]int, 100_000)...)
	b.ReportAllocs()
	for b.Loop() {
		for i, v := range l.All() {
			if v != 0 {
				b.Fatal(i)
			}
		}
	}
}
