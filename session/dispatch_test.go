package session_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

var (
	total = session.StateSlice[int]("total")
	audit = session.LogSlice[string]("audit")
)

// event is an event with the payload text unchanged.
func event(name, payload string) session.Event {
	return session.Event{Name: name, Payload: []byte(payload)}
}

// change is a reducer that always returns the same.
func change[T any](c reducer.Change[T], err error) reducer.Func[T, int] {
	return func(reducer.View[T], int) (reducer.Change[T], error) { return c, err }
}

func values[T any](s *session.Session, slice session.Slice[T]) []T {
	all := []T{}
	for _, v := range session.View(s.State(), slice).All() {
		all = append(all, v)
	}
	return all
}

func snapshotOf(t testing.TB, s interface{ Snapshot() ([]byte, error) }) string {
	raw, err := s.Snapshot()
	require.NoError(t, err)
	return string(raw)
}

func sums(view reducer.View[int], n int) (reducer.Change[int], error) {
	last, _ := view.Last()
	return reducer.Replace(last + n), nil
}

func TestReducersOfAnEventSeeOneAnother(t *testing.T) {
	s := must(session.New(session.Config{
		Slices: []session.Declared{total, audit},
		Reducers: []session.Reducer{
			session.On(total, "paid", "first", sums),
			session.On(audit, "paid", "note", func(v reducer.View[string], n int) (reducer.Change[string], error) {
				return reducer.Append(fmt.Sprintf("entry %d: %d", v.Len(), n)), nil
			}),
			session.On(total, "paid", "second", sums),
			session.On(total, "other", "third", sums),
		},
	}))
	require.NoError(t, s.Dispatch(event("paid", "5"), event("unheard", "{}"), event("paid", "1")))
	assert.Equal(t, []int{12}, values(s, total))
	assert.Equal(t, []string{"entry 0: 5", "entry 1: 1"}, values(s, audit))

	ops, failure := session.DriverOf(s).Reduce(s.State(), event("paid", "2"))
	require.Nil(t, failure)
	assert.Equal(t, []reducer.Op{op("total", reducer.OpReplace, "14"), op("audit", reducer.OpAppend, `"entry 2: 2"`),
		op("total", reducer.OpReplace, "16")}, ops)
	assert.Equal(t, []int{12}, values(s, total), "Reduce changes nothing")
}

type broken struct{ text *string }

func (b *broken) Error() string { return *b.text } // panics without a text

// lossy writes one kind of JSON and reads only another.
type lossy int

func (lossy) MarshalJSON() ([]byte, error)    { return []byte(`"written"`), nil }
func (l *lossy) UnmarshalJSON(b []byte) error { return errors.New("not again") }

// touchy panics when it is decoded.
type touchy int

func (*touchy) UnmarshalJSON([]byte) error { panic("not again") }

func TestFailuresOfReducers(t *testing.T) {
	cause := errors.New("no stock")
	odd, sore := session.StateSlice[lossy]("odd"), session.StateSlice[touchy]("sore")
	cases := map[string]struct {
		second   session.Reducer
		payload  string
		message  string
		panicked bool
	}{
		"error":             {session.On(total, "go", "second", change(reducer.None[int](), cause)), `1`, "no stock", false},
		"panic":             {session.On(total, "go", "second", func(reducer.View[int], int) (reducer.Change[int], error) { panic("oh no") }), `1`, "panic: oh no", true},
		"error_that_panics": {session.On(total, "go", "second", change(reducer.None[int](), error(&broken{}))), `1`, "panic: runtime error: invalid memory address or nil pointer dereference", true},
		"error_that_is_nil": {session.On(total, "go", "second", change(reducer.None[int](), error((*broken)(nil)))), `1`, "the error is a nil *session_test.broken: return nil itself, which has no type, if there is none", false},
		"index":             {session.On(total, "go", "second", func(v reducer.View[int], _ int) (reducer.Change[int], error) { return reducer.Append(v.At(7)), nil }), `1`, "panic: runtime error: index out of range [7] with length 1", true},
		"zero_change":       {session.On(total, "go", "second", change(reducer.Change[int]{}, nil)), `1`, "a change without a kind: use Append, Extend, Replace, Clear or None", false},
		"replace_a_log":     {session.On(audit, "go", "second", change(reducer.Replace("x"), nil)), `1`, `operation 0: replace on slice "audit": a log slice allows only append and extend`, false},
		"clear_a_log":       {session.On(audit, "go", "second", change(reducer.Clear[string](), nil)), `1`, `operation 0: clear on slice "audit": a log slice allows only append and extend`, false},
		"bad_utf8":          {session.On(audit, "go", "second", change(reducer.Append("\xff"), nil)), `1`, `slice "audit", value 0 of the change: text at the top cannot be written as JSON: it is not UTF-8, or raw JSON that is not strict`, false},
		"does_not_survive":  {session.On(odd, "go", "second", change(reducer.Append(lossy(1)), nil)), `1`, `slice "odd", value 0: JSON value at the top does not fit Go type session_test.lossy`, false},
		"read_back_panics":  {session.On(sore, "go", "second", change(reducer.Append(touchy(1)), nil)), `1`, "panic: not again", true},
		"error_of_no_words": {session.On(total, "go", "second", change(reducer.None[int](), errors.New(""))), `1`, "an error without a message", false},
		"payload_type":      {session.On(total, "go", "second", func(v reducer.View[int], _ []int) (reducer.Change[int], error) { return reducer.Clear[int](), nil }), `{}`, "the payload does not fit: JSON value at the top does not fit Go type []int", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			first := session.On(total, "go", "first", func(reducer.View[int], any) (reducer.Change[int], error) { return reducer.Append(1), nil })
			third := session.On(total, "go", "third", func(reducer.View[int], any) (reducer.Change[int], error) {
				t.Error("a reducer ran after a failure")
				return reducer.None[int](), nil
			})
			var told []fault.ReducerError
			s := must(session.New(session.Config{
				Slices:         []session.Declared{total, audit, odd, sore},
				Reducers:       []session.Reducer{first, c.second, third},
				OnReducerError: func(e fault.ReducerError) { told = append(told, e) },
			}))
			before := s.State()

			ops, failure := session.DriverOf(s).Reduce(s.State(), event("go", c.payload))
			assert.Nil(t, ops)
			require.NotNil(t, failure)
			assert.Equal(t, snapshotOf(t, before), snapshotOf(t, s), "Reduce changes nothing")
			assert.Empty(t, told, "Reduce tells nobody")

			err := s.Dispatch(event("go", c.payload))
			var returned *fault.ReducerError
			require.ErrorAs(t, err, &returned)
			assert.Equal(t, c.message, returned.Message)
			assert.Equal(t, fault.ReducerError{Reducer: "second", Payload: c.payload, Message: c.message, Panicked: c.panicked, Cause: returned.Cause}, *returned)
			assert.Equal(t, []fault.ReducerError{*returned}, told)

			recorded := s.State().ReducerErrors()
			require.Len(t, recorded, 1)
			assert.NoError(t, recorded[0].Cause, "a state holds no Go errors")
			assert.Equal(t, c.message, recorded[0].Message)
			assert.Equal(t, before.Slices(), s.State().Slices(), "no slice has changed")
		})
	}
}

func TestPanicWithNilIsAFailure(t *testing.T) {
	s := must(session.New(session.Config{
		Slices:   []session.Declared{total},
		Reducers: []session.Reducer{session.On(total, "go", "r", func(reducer.View[int], int) (reducer.Change[int], error) { panic(nil) })},
	}))
	_, failure := session.DriverOf(s).Reduce(s.State(), event("go", "1"))
	require.NotNil(t, failure)
	assert.True(t, failure.Panicked)
}

func TestCauseOfAReducerErrorIsReachable(t *testing.T) {
	cause := errors.New("no stock")
	s := must(session.New(session.Config{
		Slices:   []session.Declared{total},
		Reducers: []session.Reducer{session.On(total, "go", "r", change(reducer.None[int](), fmt.Errorf("cart: %w", cause)))},
	}))
	assert.ErrorIs(t, s.Dispatch(event("go", "1")), cause)
}

func TestPayloads(t *testing.T) {
	deep := strings.Repeat("[", 600)
	cases := map[string]struct{ payload, kept, message string }{
		"canonical_form": {` { "b":1, "a":"\u0061" } `, `{"a":"a","b":1}`, "refused"},
		"empty_is_null":  {``, `null`, "refused"},
		"no_json":        {`{oops`, `"{oops"`, "the payload is unusable: not strict JSON: syntax at byte 1"},
		"duplicate_name": {`{"a":1,"a":2}`, `"{\"a\":1,\"a\":2}"`, "the payload is unusable: JSON with a duplicate name at /a"},
		"bad_utf8":       {"\"\xff\"", "\"\\\"\uFFFD\\\"\"", "the payload is unusable: not strict JSON: invalid_utf8 at byte 1"},
		"too_deep":       {deep, `"` + deep + `"`, "the payload is unusable: JSON nested deeper than 512 at byte 512"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := must(session.New(session.Config{
				Slices: []session.Declared{total},
				Reducers: []session.Reducer{session.On(total, "go", "r", func(reducer.View[int], any) (reducer.Change[int], error) {
					return reducer.None[int](), errors.New("refused")
				})},
			}))
			_, failure := session.DriverOf(s).Reduce(s.State(), event("go", c.payload))
			require.NotNil(t, failure)
			assert.Equal(t, c.kept, failure.Payload)
			assert.Equal(t, c.message, failure.Message)
			assert.NoError(t, s.Dispatch(event("unheard", c.payload)), "an event nobody is bound to is not looked at")
		})
	}
	_, err := session.NewEvent("go", make(chan int))
	assert.Error(t, err)
}

func TestTextsOfReducersAreBounded(t *testing.T) {
	cases := map[string]string{
		"short":        "short",
		"at_the_bound": strings.Repeat("a", 4096),
		"long":         strings.Repeat("a", 10_000),
		"long_runes":   strings.Repeat("é", 10_000),
		"offset_runes": "a" + strings.Repeat("😀", 10_000),
		"bad_utf8":     strings.Repeat("\xff", 3000),
		"long_bad":     strings.Repeat("\x80", 9000),
	}
	for name, message := range cases {
		t.Run(name, func(t *testing.T) {
			s := must(session.New(session.Config{
				Slices:   []session.Declared{total},
				Reducers: []session.Reducer{session.On(total, "go", "r", change(reducer.None[int](), errors.New(message)))},
			}))
			_, failure := session.DriverOf(s).Reduce(s.State(), event("go", "1"))
			assert.LessOrEqual(t, len(failure.Message), 4096)
			assert.True(t, utf8.ValidString(failure.Message))
			if len(message) > 4096 {
				assert.True(t, strings.HasSuffix(failure.Message, "…"))
			}
			_, failure = session.DriverOf(s).Reduce(s.State(), event("go", `{`+message))
			assert.LessOrEqual(t, len(failure.Payload), 3*4096+2)
		})
	}
}

func TestDispatchStopsAtTheFirstFailure(t *testing.T) {
	s := must(session.New(cartConfig()))
	err := s.Dispatch(event("item_added", `{"sku":"a","qty":1}`), event("item_added", `{"sku":"b"}`), event("item_added", `{"sku":"c","qty":1}`))
	assert.EqualError(t, err, `reducer "cart.add": a line needs at least one item`)
	assert.Equal(t, []Line{{SKU: "a", Qty: 1}}, values(s, cart))
}

func TestCallbackMayUseTheSession(t *testing.T) {
	s := must(session.New(cartConfig()))
	s.OnReducerError(func(e fault.ReducerError) {
		assert.Equal(t, 1, len(s.State().ReducerErrors()), "recorded before anyone is told")
		assert.NoError(t, s.Dispatch(event("item_added", `{"sku":"instead","qty":1}`)))
		s.OnReducerError(nil)
	})
	require.Error(t, s.Dispatch(event("item_added", `{}`)))
	require.Error(t, s.Dispatch(event("item_added", `{}`)))
	assert.Equal(t, []Line{{SKU: "instead", Qty: 1}}, values(s, cart))
	assert.Equal(t, 2, len(s.State().ReducerErrors()))
}

// Trip is a value that shares memory with its copies.
type Trip struct {
	Stops []string `json:"stops"`
}

func TestAReducerCannotWriteIntoTheSession(t *testing.T) {
	trip := session.StateSlice[Trip]("trip")
	s := must(session.New(session.Config{
		Slices: []session.Declared{trip},
		Reducers: []session.Reducer{
			session.On(trip, "planned", "plan", func(_ reducer.View[Trip], e Trip) (reducer.Change[Trip], error) {
				return reducer.Replace(e), nil
			}),
			session.On(trip, "spoiled", "spoil", func(v reducer.View[Trip], _ any) (reducer.Change[Trip], error) {
				held, _ := v.Last()
				held.Stops[0] = "spoiled"
				return reducer.None[Trip](), errors.New("refused")
			}),
		},
	}))
	require.NoError(t, s.Dispatch(event("planned", `{"stops":["Lisbon"]}`)))
	before := snapshotOf(t, s.State())
	_, failure := session.DriverOf(s).Reduce(s.State(), event("spoiled", ""))
	require.NotNil(t, failure)
	assert.Equal(t, before, snapshotOf(t, s))
	held, _ := session.View(s.State(), trip).Last()
	assert.Equal(t, []string{"Lisbon"}, held.Stops)
	held.Stops[0] = "spoiled"
	held, _ = session.View(s.State(), trip).Last()
	assert.Equal(t, []string{"Lisbon"}, held.Stops)
}

func TestConcurrentUse(t *testing.T) {
	s := must(session.New(session.Config{
		Slices:   []session.Declared{total, audit},
		Reducers: []session.Reducer{session.On(total, "paid", "sum", sums), session.On(audit, "paid", "note", func(reducer.View[string], int) (reducer.Change[string], error) { return reducer.Append("paid"), nil })},
	}))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := s.Dispatch(event("paid", "1"), event("paid", "x")); err == nil {
					t.Error("a payload that is no JSON was accepted")
				}
			}
		})
		wg.Go(func() {
			for range 50 {
				state := s.State()
				sum, _ := session.View(state, total).Last()
				if sum != session.View(state, audit).Len() {
					t.Errorf("a state between two events: %d and %d", sum, session.View(state, audit).Len())
				}
				s.OnReducerError(func(fault.ReducerError) {})
				if _, err := s.Snapshot(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, []int{400}, values(s, total))
	assert.Equal(t, 400, len(s.State().ReducerErrors()))
}
