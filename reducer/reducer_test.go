package reducer_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/reducer"
)

func TestView(t *testing.T) {
	v := reducer.ViewOf("a", "b", "c")
	last, ok := v.Last()
	require.True(t, ok)
	assert.Equal(t, "c", last)
	assert.Equal(t, 3, v.Len())
	assert.Equal(t, "b", v.At(1))

	forth := []string{}
	for i, s := range v.All() {
		assert.Equal(t, v.At(i), s)
		if forth = append(forth, s); i == 1 {
			break
		}
	}
	assert.Equal(t, []string{"a", "b"}, forth)
	assert.Panics(t, func() { v.At(3) })
}

func TestZeroViewIsEmpty(t *testing.T) {
	var v reducer.View[int]
	_, ok := v.Last()
	assert.False(t, ok)
	assert.Zero(t, v.Len())
	for range v.All() {
		t.Fatal("an empty view yielded a value")
	}
	assert.Panics(t, func() { v.At(0) })
}

func TestReadingAViewAllocatesNothing(t *testing.T) {
	v := reducer.ViewOf(make([]int, 100)...)
	sum := 0
	assert.Zero(t, testing.AllocsPerRun(20, func() {
		for _, n := range v.All() {
			sum += n
		}
		last, _ := v.Last()
		sum += last + v.At(5)
	}))
}

func TestApply(t *testing.T) {
	cases := map[string]struct {
		change reducer.Change[int]
		want   []int
	}{
		"append":              {reducer.Append(3), []int{1, 2, 3}},
		"extend":              {reducer.Extend(3, 4), []int{1, 2, 3, 4}},
		"extend_with_nothing": {reducer.Extend[int](), []int{1, 2}},
		"replace":             {reducer.Replace(9), []int{9}},
		"replace_by_nothing":  {reducer.Replace[int](), []int{}},
		"clear":               {reducer.Clear[int](), []int{}},
		"none":                {reducer.None[int](), []int{1, 2}},
		"invalid":             {reducer.Change[int]{}, []int{1, 2}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			held := []int{1, 2}
			got := c.change.Apply(reducer.ViewOf(held...))
			assert.Equal(t, c.want, got)
			assert.Equal(t, []int{1, 2}, held)
		})
	}
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		change reducer.Change[int]
		want   string
	}{
		"zero_value":       {reducer.Change[int]{}, "a change without a kind: use Append, Extend, Replace, Clear or None"},
		"zero_with_values": {reducer.Change[int]{Values: []int{1}}, "a change without a kind: use Append, Extend, Replace, Clear or None"},
		"unknown":          {reducer.Change[int]{Kind: "swap"}, `unknown kind of change "swap"`},
		"append_nothing":   {reducer.Change[int]{Kind: reducer.OpAppend}, "append takes exactly one value, got 0"},
		"append_two":       {reducer.Change[int]{Kind: reducer.OpAppend, Values: []int{1, 2}}, "append takes exactly one value, got 2"},
		"clear_with_value": {reducer.Change[int]{Kind: reducer.OpClear, Values: []int{1}}, "clear takes no values, got 1"},
		"none_with_value":  {reducer.Change[int]{Kind: reducer.OpNone, Values: []int{1}}, "none takes no values, got 1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := reducer.Encode("numbers", c.change)
			assert.EqualError(t, err, c.want)
			op := reducer.Op{Slice: "numbers", Kind: c.change.Kind, Values: make([]json.RawMessage, len(c.change.Values))}
			assert.EqualError(t, op.Validate(), c.want)
		})
	}
}

func TestOps(t *testing.T) {
	cases := map[string]struct {
		change  reducer.Change[int]
		wire    string
		changes bool
		keeps   bool
	}{
		"append":  {reducer.Append(1), `{"slice":"numbers","kind":"append","values":[1]}`, true, true},
		"extend":  {reducer.Extend(1, 2), `{"slice":"numbers","kind":"extend","values":[1,2]}`, true, true},
		"replace": {reducer.Replace[int](), `{"slice":"numbers","kind":"replace"}`, true, false},
		"clear":   {reducer.Clear[int](), `{"slice":"numbers","kind":"clear"}`, true, false},
		"none":    {reducer.None[int](), `{"slice":"numbers","kind":"none"}`, false, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			op, err := reducer.Encode("numbers", c.change)
			require.NoError(t, err)
			assert.Equal(t, c.changes, op.Changes())
			assert.Equal(t, c.keeps, op.Kind.Keeps())
			wire, err := json.Marshal(op)
			require.NoError(t, err)
			assert.Equal(t, c.wire, string(wire))
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	_, err := reducer.Encode("ratios", reducer.Extend(1, math.NaN()))
	assert.EqualError(t, err, `slice "ratios", value 1 of the change: Go type float64 cannot be written as JSON (at the top)`)
}

// A change that was written as data and read back has the same effect.
func TestEncodeKeepsTheChange(t *testing.T) {
	kinds := []func(...Line) reducer.Change[Line]{
		func(v ...Line) reducer.Change[Line] { return reducer.Append(append(v, Line{SKU: "last"})[0]) },
		reducer.Extend[Line],
		reducer.Replace[Line],
		func(...Line) reducer.Change[Line] { return reducer.Clear[Line]() },
		func(...Line) reducer.Change[Line] { return reducer.None[Line]() },
	}
	lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Line {
		return Line{SKU: rapid.String().Draw(t, "sku"), Qty: rapid.Int().Draw(t, "qty")}
	}), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		change := rapid.SampledFrom(kinds).Draw(t, "kind")(lines.Draw(t, "values")...)
		held := reducer.ViewOf(lines.Draw(t, "held")...)
		op, err := reducer.Encode("cart", change)
		if err != nil {
			t.Fatal(err)
		}
		back := reducer.Change[Line]{Kind: op.Kind, Values: make([]Line, len(op.Values))}
		for n, raw := range op.Values {
			if err := json.Unmarshal(raw, &back.Values[n]); err != nil {
				t.Fatal(err)
			}
		}
		assert.Equal(t, change.Apply(held), back.Apply(held))
	})
}
