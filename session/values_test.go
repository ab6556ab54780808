package session_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// sold is a flat type.
type sold struct {
	SKU   string  `json:"sku"`
	Qty   int     `json:"qty,omitempty"`
	Price float64 `json:"price"`
}

// What a session remembers of the values that reducers gave it is what somebody else reads in its snapshot.
func TestRememberedValuesAreThoseOfTheSnapshot(t *testing.T) {
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

// A payload is in canonical form, and its event heard, however it was written.
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

func TestDispatchesAllocateLittle(t *testing.T) {
	s := must(session.New(cartConfig()))
	e := event("item_added", `{"qty":1,"sku":"tea"}`)
	allocs := testing.AllocsPerRun(200, func() { _ = s.Dispatch(e) })
	assert.LessOrEqual(t, allocs, 9.0, "an event that a reducer adds to a slice")
}

// Where more than one thing is wrong, the payload's form comes first, then the slice, then whether the payload fits.
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
		ops, failure := s.ReduceIn(c.in, event("paid", c.payload))
		require.NotNil(t, failure, name)
		assert.Empty(t, ops, name)
		assert.Equal(t, c.message, failure.Message, name)
		assert.Equal(t, c.quoted, failure.Payload, name)
	}
}
