package session_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// sold is the type of the slices in these tests.
type sold struct {
	SKU   string  `json:"sku"`
	Qty   int     `json:"qty,omitempty"`
	Price float64 `json:"price"`
}

// The values of a session are equal to those in its snapshot.
func TestValuesAreThoseOfTheSnapshot(t *testing.T) {
	sales, stock := session.LogSlice[sold]("sales"), session.StateSlice[sold]("stock")
	cfg := session.Config{
		Slices: []session.Declared{sales, stock},
		Reducers: []session.Reducer{
			session.On(sales, "sold", "sales.keep", func(v reducer.View[sold], e sold) (reducer.Change[sold], error) {
				if last, ok := v.Last(); ok && e.Qty > 5 {
					return reducer.Extend(e, last), nil
				}
				return reducer.Append(e), nil
			}),
			session.On(stock, "sold", "stock.set", func(v reducer.View[sold], e sold) (reducer.Change[sold], error) {
				switch e.Qty {
				case 0:
					return reducer.Clear[sold](), nil
				case 1:
					return reducer.Append(e), nil
				}
				return reducer.Replace(e, e), nil
			}),
		},
	}
	seen := func(s *session.Session) string { return fmt.Sprintf("%#v %#v", values(s, sales), values(s, stock)) }
	rapid.Check(t, func(t *rapid.T) {
		s := must(session.New(cfg))
		for range rapid.IntRange(1, 6).Draw(t, "events") {
			e, err := session.NewEvent("sold", sold{
				SKU: rapid.SampledFrom([]string{"", "tea", "é\"\n"}).Draw(t, "sku"), Qty: rapid.IntRange(0, 9).Draw(t, "qty"), Price: rapid.Float64().Draw(t, "price"),
			})
			require.NoError(t, err)
			require.NoError(t, s.Dispatch(e))
			back := must(session.Restore(cfg, must(s.Snapshot())))
			require.Equal(t, seen(back), seen(s))
			if rapid.Bool().Draw(t, "restored") {
				s = back
			}
		}
	})
}

// Payloads are canonical, and events are handled, however they were written.
func TestPayloadsMayBeWrittenInAnyWay(t *testing.T) {
	for _, payload := range []string{`{"price":1.5,"sku":"tea"}`, ` {"sku" : "t\u0065a", "price":1.5, "more":[]}`, `{"price":15e-1,"qty":0,"sku":"tea"}`} {
		sales := session.LogSlice[sold]("sales")
		s := must(session.New(session.Config{
			Slices: []session.Declared{sales},
			Reducers: []session.Reducer{session.On(sales, "sold", "sales.keep", func(_ reducer.View[sold], e sold) (reducer.Change[sold], error) {
				return reducer.Append(e), nil
			})},
		}))
		require.NoError(t, s.Dispatch(event("sold", payload)))
		assert.Equal(t, []sold{{SKU: "tea", Price: 1.5}}, values(s, sales), payload)
	}
}

// held returns a snapshot of a state after all its slices were read as Go values.
func held(t require.TestingT, s session.State, slices ...session.Slice[sold]) string {
	var seen []sold
	for _, slice := range slices {
		for _, v := range session.View(s, slice).All() {
			seen = append(seen, v)
		}
	}
	raw, err := s.Snapshot()
	require.NoError(t, err)
	return fmt.Sprintf("%#v %s", seen, raw)
}

// The result of an event is that of the operations which its reducers returned.
func TestADispatchIsWhatItsOperationsAre(t *testing.T) {
	sales, stock := session.LogSlice[sold]("sales"), session.StateSlice[sold]("stock")
	rapid.Check(t, func(t *rapid.T) {
		var first, second reducer.Change[sold] // what the reducers want of the next event
		s := must(session.New(session.Config{
			Slices: []session.Declared{sales, stock},
			Reducers: []session.Reducer{
				session.On(sales, "sold", "sales.keep", func(reducer.View[sold], any) (reducer.Change[sold], error) { return first, nil }),
				session.On(stock, "sold", "stock.set", func(reducer.View[sold], any) (reducer.Change[sold], error) { return second, nil }),
				session.On(stock, "sold", "stock.again", func(v reducer.View[sold], _ any) (reducer.Change[sold], error) {
					if last, ok := v.Last(); ok && last.Qty == 3 {
						return reducer.Append(last), nil
					}
					return reducer.None[sold](), nil
				}),
			},
		}))
		for range rapid.IntRange(1, 6).Draw(t, "events") {
			first, second = anyChange(t), anyChange(t)
			before := s.State()
			ops, refused := session.DriverOf(s).Reduce(s.State(), session.Event{Name: "sold"})
			err := s.Dispatch(session.Event{Name: "sold"})
			if refused != nil {
				require.Equal(t, refused, err)
				require.Equal(t, before.Slices(), s.State().Slices())
				continue
			}
			require.NoError(t, err)
			want, err := before.Apply(ops)
			require.NoError(t, err)
			was := held(t, before, sales, stock)
			require.Equal(t, held(t, want, sales, stock), held(t, s.State(), sales, stock))
			require.Equal(t, was, held(t, before, sales, stock), "what was before stays as it was")
		}
	})
}

// anyChange is a random change; most can be applied.
func anyChange(t *rapid.T) (c reducer.Change[sold]) {
	c.Kind = rapid.SampledFrom([]reducer.OpKind{
		reducer.OpAppend, reducer.OpAppend, reducer.OpExtend, reducer.OpReplace, reducer.OpClear, reducer.OpNone, "",
	}).Draw(t, "kind")
	for range rapid.SampledFrom([]int{1, 1, 0, 2, 5}).Draw(t, "values") {
		c.Values = append(c.Values, sold{
			SKU:   rapid.SampledFrom([]string{"", "tea", "é\"\n", "\xff"}).Draw(t, "sku"),
			Qty:   rapid.IntRange(0, 5).Draw(t, "qty"),
			Price: rapid.SampledFrom([]float64{0, 1.5, 1e300, 1e-9, math.Copysign(0, -1), math.NaN(), math.Inf(1), 0.1}).Draw(t, "price"),
		})
	}
	return c
}

// A view never changes after it was handed out.
func TestViewsStayAsTheyAre(t *testing.T) {
	var kept []reducer.View[int]
	s := must(session.New(session.Config{
		Slices: []session.Declared{total},
		Reducers: []session.Reducer{
			session.On(total, "paid", "sum", func(v reducer.View[int], n int) (reducer.Change[int], error) {
				kept = append(kept, v)
				return sums(v, n)
			}),
			session.On(total, "paid", "log", func(v reducer.View[int], n int) (reducer.Change[int], error) {
				kept = append(kept, v)
				return reducer.Append(-n), nil
			}),
		},
	}))
	kept = append(kept, session.View(s.State(), total))
	require.NoError(t, s.Dispatch(event("paid", "5"), event("paid", "1")))
	var seen [][]int
	for _, v := range kept {
		var all []int
		for _, n := range v.All() {
			all = append(all, n)
		}
		seen = append(seen, all)
	}
	assert.Equal(t, [][]int{nil, nil, {5}, {5, -5}, {-4}}, seen)
}

// If several things are wrong, the form of the payload is reported first, then the slice, then the type of
// the payload.
func TestWhatIsSaidFirstOfAnEventThatIsWrong(t *testing.T) {
	s := must(session.New(session.Config{
		Slices: []session.Declared{total}, Reducers: []session.Reducer{session.On(total, "paid", "sum", sums)},
	}))
	elsewhere := must(session.NewState("other"))
	cases := map[string]struct {
		in      session.State
		payload string
		message string
		quoted  string
	}{
		"unusable":           {s.State(), `{"a`, "the payload is unusable: not strict JSON: syntax at byte 3", `"{\"a"`},
		"unusable, no slice": {elsewhere, `{"a`, "the payload is unusable: not strict JSON: syntax at byte 3", `"{\"a"`},
		"misfit":             {s.State(), `"x" `, "the payload does not fit: JSON value at the top does not fit Go type int", `"x"`},
		"misfit, no slice":   {elsewhere, `"x" `, `slice "total": unknown slice`, `"x"`},
		"no slice":           {elsewhere, ` 5`, `slice "total": unknown slice`, `5`},
	}
	for name, c := range cases {
		ops, failure := session.DriverOf(s).Reduce(c.in, event("paid", c.payload))
		require.NotNil(t, failure, name)
		assert.Empty(t, ops, name)
		assert.Equal(t, c.message, failure.Message, name)
		assert.Equal(t, c.quoted, failure.Payload, name)
	}
}
