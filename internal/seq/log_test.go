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
	assert.Nil(t, l.From(0))
	assert.Equal(t, l, l.Append(), "appending nothing changes nothing")
	assert.Panics(t, func() { l.At(0) })
}

func TestReading(t *testing.T) {
	l := seq.Of("a", "b", "c")
	last, ok := l.Last()
	require.True(t, ok)
	assert.Equal(t, "c", last)
	assert.Equal(t, "b", l.At(1))
	assert.Equal(t, []string{"b", "c"}, l.From(1))
	assert.Nil(t, l.From(3))

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
	l := seq.Of(1, 2, 3).Append(4) // there is room behind it, which is not the log's
	cases := map[string]func(){
		"at the end":    func() { l.At(4) },
		"negative":      func() { l.At(-1) },
		"from past end": func() { l.From(5) },
		"from negative": func() { l.From(-1) },
		"from of empty": func() { seq.Of[int]().From(1) },
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) { assert.Panics(t, f) })
	}
}

func TestAppendingToASliceCopies(t *testing.T) {
	l := seq.Of(1, 2)
	longer := l.Append(3)
	_ = append(l.From(0), 99)
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
			checkHolds(t, l, model[i], rapid.IntRange(0, l.Len()).Draw(t, "read from"))
		}
	})
}

// checkHolds reads a log in every way.
func checkHolds(t require.TestingT, l seq.Log[int], want []int, from int) {
	require.Equal(t, len(want), l.Len())
	require.Equal(t, append([]int{}, want...), values(l))
	require.True(t, slices.Equal(want, l.From(0)))
	part := l.From(from)
	require.True(t, slices.Equal(want[from:], part))
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

// Ten thousand appends copy the log about as often as the built-in append does.
func TestAppendsAreLinear(t *testing.T) {
	var l seq.Log[int]
	assert.LessOrEqual(t, testing.AllocsPerRun(1, func() {
		l = seq.Log[int]{}
		for i := range 10_000 {
			l = l.Append(i)
		}
	}), 60.0)
	assert.Equal(t, 10_000, l.Len())
}

// A log of one value has no memory to spare: many waiting sessions have such a log.
func TestALogOfOneValueIsSmall(t *testing.T) {
	one := seq.Of([8]int{})
	assert.False(t, one.Append([8]int{1}).Same(one.Append([8]int{2})))
	assert.True(t, one.Same(one.Append()))
	assert.False(t, one.Same(seq.Of([8]int{})), "values are not compared")
	got := testing.AllocsPerRun(10, func() { one = seq.Of([8]int{}) })
	assert.LessOrEqual(t, got, 2.0)
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
		sum += last + len(l.From(10)) + l.At(7)
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

// Of two appends to one log, one copies it.
func BenchmarkBranch(b *testing.B) {
	l := seq.Of(make([][4]int, 100)...)
	b.ReportAllocs()
	for i := range b.N {
		l.Append([4]int{i})
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

// What a log forgot is gone from it alone, and changes nothing of the rest.
func TestForgettingKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOf(rapid.Int()).Draw(t, "values")
		whole := seq.Of(all...)
		left, gone := whole, 0
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			gone = max(gone, rapid.IntRange(0, len(all)).Draw(t, "gone"))
			left = left.Forget(gone)
			if rapid.Bool().Draw(t, "append") {
				all, whole, left = append(slices.Clip(all), 7), whole.Append(7), left.Append(7)
			}
		}
		assert.Equal(t, len(all), left.Len())
		assert.Equal(t, values(whole), some(all))
		assert.Equal(t, some(all[gone:]), values(left))
		for i := gone; i < len(all); i++ {
			assert.Equal(t, all[i], left.At(i))
			assert.Equal(t, all[i:], left.From(i))
		}
		assert.Equal(t, some(left.From(gone)), some(left.From(0)), "what is forgotten is left out")
	})
}

func some(values []int) []int { return append([]int{}, values...) }

// Values that were appended to try them are appended again without a copy; others, and more of them, are not
// mixed up with these.
func TestWhatWasTriedIsAppendedWithoutACopy(t *testing.T) {
	equal := func(a, b int) bool { return a == b }
	l := seq.Of(1, 2).Append(3) // with room behind it
	tried := l.Append(4)
	assert.True(t, tried.Same(l.AppendAgain(equal, 4)))
	assert.Equal(t, []int{1, 2, 3, 5}, values(l.AppendAgain(equal, 5)))
	more := l.AppendAgain(equal, 4, 5)
	assert.Equal(t, []int{1, 2, 3, 4, 5}, values(more))
	assert.Equal(t, []int{1, 2, 3, 4}, values(tried))
	assert.True(t, tried.AppendAgain(equal).Same(tried))
	assert.Equal(t, []int{7}, values(seq.Log[int]{}.AppendAgain(equal, 7)))
	forgot := more.Forget(2).Append(6)
	assert.True(t, forgot.Append(6).Same(forgot.AppendAgain(equal, 6)))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for n, at := 0, l; n < 100; n++ {
				at = at.AppendAgain(equal, n)
				assert.Equal(t, n, at.At(3+n))
			}
		})
	}
	all.Wait()
}
