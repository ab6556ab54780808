package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

func TestConfigFaults(t *testing.T) {
	ok := change(reducer.None[int](), nil)
	pattern := `^[a-z][a-z0-9_.-]{0,63}$`
	cases := map[string]struct {
		cfg  session.Config
		want []string
	}{
		"long_id":           {session.Config{ID: strings.Repeat("a", 129)}, []string{"id: must have at most 128 bytes, has 129"}},
		"control_in_id":     {session.Config{ID: "a\nb"}, []string{"id: must be UTF-8 without control characters"}},
		"bad_utf8_in_id":    {session.Config{ID: "a\xff"}, []string{"id: must be UTF-8 without control characters"}},
		"nil_slice":         {session.Config{Slices: []session.Declared{nil}}, []string{"slices[0]: must be made by StateSlice or LogSlice, is nil"}},
		"zero_slice":        {session.Config{Slices: []session.Declared{session.Slice[int]{}}}, []string{"slices[0]: must be made by StateSlice or LogSlice"}},
		"bad_name":          {session.Config{Slices: []session.Declared{session.StateSlice[int]("Cart")}}, []string{`slices[0]: name "Cart" must match ` + pattern}},
		"long_name":         {session.Config{Slices: []session.Declared{session.StateSlice[int](strings.Repeat("a", 65))}}, []string{`slices[0]: name "` + strings.Repeat("a", 65) + `" must match ` + pattern}},
		"reserved_feedback": {session.Config{Slices: []session.Declared{session.LogSlice[int]("feedback")}}, []string{`slices[0]: name "feedback" is reserved for a built-in log: choose another`}},
		"builtin_handle":    {session.Config{Slices: []session.Declared{session.LogSlice[int]("attempts")}}, []string{`slices[0]: name "attempts" is reserved for a built-in log: choose another`}},
		"twice":             {session.Config{Slices: []session.Declared{total, cart, total}}, []string{`slices[2]: name "total" is declared twice`}},
		"bad_event":         {session.Config{Events: []string{"good", "Not good"}}, []string{`events[1]: name "Not good" must match ` + pattern}},
		"reducer_on_builtin": {
			session.Config{Reducers: []session.Reducer{session.On(session.LogSlice[int]("reducer_errors"), "go", "r", ok)}},
			[]string{`reducers[0]: slice "reducer_errors" must be declared in slices`},
		},
		"reducer_with_another_type": {
			session.Config{Slices: []session.Declared{total}, Reducers: []session.Reducer{session.On(session.StateSlice[string]("total"), "go", "r", change(reducer.None[string](), nil))}},
			[]string{`reducers[0]: slice "total" is declared with another kind or type`},
		},
		"reducer_with_another_kind": {
			session.Config{Slices: []session.Declared{total}, Reducers: []session.Reducer{session.On(session.LogSlice[int]("total"), "go", "r", ok)}},
			[]string{`reducers[0]: slice "total" is declared with another kind or type`},
		},
		"all_at_once": {
			session.Config{ID: "\x00", Slices: []session.Declared{total}, Reducers: []session.Reducer{
				session.On(total, "go", "r", ok), session.On(total, "Go", "r", ok), session.On[int, int](total, "go", "R", nil), {},
			}},
			[]string{
				"id: must be UTF-8 without control characters",
				`reducers[1]: name "r" is used twice`,
				`reducers[1]: event "Go" must match ` + pattern,
				`reducers[2]: name "R" must match ` + pattern,
				"reducers[2]: must be made by On with a function that is not nil",
				`reducers[3]: name "" must match ` + pattern,
				`reducers[3]: event "" must match ` + pattern,
				"reducers[3]: must be made by On with a function that is not nil",
				`reducers[3]: slice "" must be declared in slices`,
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := session.New(c.cfg)
			assert.EqualError(t, err, "session config: "+strings.Join(c.want, "\nsession config: "))
			_, err = session.Restore(c.cfg, must(session.State{}.Snapshot()))
			assert.Error(t, err)
		})
	}
}

func TestID(t *testing.T) {
	s := must(session.New(session.Config{}))
	assert.Empty(t, s.ID())
	assert.Error(t, session.DriverOf(s).Adopt(""))
	assert.Error(t, session.DriverOf(s).Adopt("a\x00"))
	require.NoError(t, session.DriverOf(s).Adopt("run-1"))
	assert.Equal(t, "run-1", s.ID())
	assert.NoError(t, session.DriverOf(s).Adopt("run-1"))
	assert.EqualError(t, session.DriverOf(s).Adopt("run-2"), "the session has another id already")
	assert.Equal(t, "run-1", s.State().ID())
}

func TestARunHoldsTheSession(t *testing.T) {
	s := must(session.New(cartConfig()))
	assert.ErrorIs(t, session.DriverOf(s).Replace(s.State()), session.ErrNotHeld)
	require.NoError(t, session.DriverOf(s).Acquire())
	assert.ErrorIs(t, session.DriverOf(s).Acquire(), session.ErrBusy)
	assert.ErrorIs(t, s.Dispatch(event("item_added", `{"sku":"a","qty":1}`)), session.ErrBusy)
	assert.Zero(t, session.View(s.State(), cart).Len())

	state := s.State()
	ops, failure := session.DriverOf(s).Reduce(state, event("item_added", `{"sku":"a","qty":1}`))
	require.Nil(t, failure)
	state = must(state.Apply(ops))
	ops, failure = session.DriverOf(s).Reduce(state, event("item_added", `{"sku":"b","qty":2}`))
	require.Nil(t, failure)
	state = must(state.Apply(ops))
	assert.Zero(t, session.View(s.State(), cart).Len(), "stepping a state does not touch the session")
	require.NoError(t, session.DriverOf(s).Replace(state))
	assert.Equal(t, []Line{{"a", 1}, {"b", 2}}, values(s, cart))

	var heard []string
	session.DriverOf(s).Hearing(func(w session.Words) error { heard = append(heard, w.Text); return nil })
	require.NoError(t, s.Say(session.Words{Text: "Wait."}))
	session.DriverOf(s).Release()
	session.DriverOf(s).Release()
	assert.ErrorIs(t, s.Say(session.Words{Text: "Stop."}), session.ErrNotHeld)
	assert.Equal(t, []string{"Wait."}, heard)
	assert.NoError(t, s.Dispatch(event("item_added", `{"sku":"c","qty":3}`)))
	assert.Equal(t, 3, session.View(s.State(), cart).Len())
}

func TestReplaceRefusesWhatIsNotTheSessions(t *testing.T) {
	append1 := func(raw string) []reducer.Op {
		return []reducer.Op{{Slice: "cart", Kind: reducer.OpAppend, Values: rawValues(raw)}}
	}
	good := must(must(session.NewState("order-42", cart)).Apply(append1(`{"sku":"tea","qty":1}`)))
	cases := map[string]struct {
		state session.State
		want  string
	}{
		"another_id":     {must(session.NewState("order-43", cart)), "the session has another id already"},
		"another_kind":   {must(session.NewState("order-42", session.LogSlice[Line]("cart"))), `slice "cart": the slice is declared with another kind`},
		"unknown_slice":  {must(session.NewState("order-42", cart, total)), `slice "total": unknown slice`},
		"misfit":         {must(good.Apply(append1(`"a"`))), `slice "cart", value 1: JSON value at the top does not fit Go type session_test.Line`},
		"misfit_covered": {must(must(good.Apply(append1(`"a"`))).Apply(append1(`{}`))), `slice "cart", value 1: JSON value at the top does not fit Go type session_test.Line`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := must(session.New(cartConfig()))
			require.NoError(t, session.DriverOf(s).Acquire())
			require.NoError(t, session.DriverOf(s).Replace(good))
			for range 2 { // what was found out the first time must not hide it the second
				assert.EqualError(t, session.DriverOf(s).Replace(c.state), c.want)
			}
			assert.Equal(t, snapshotOf(t, good), snapshotOf(t, s))
		})
	}
}

func TestReadingWhatIsNotDeclaredPanics(t *testing.T) {
	s := must(session.New(cartConfig()))
	forged := must(s.State().Apply([]reducer.Op{{Slice: "cart", Kind: reducer.OpAppend, Values: rawValues("7")}}))
	cases := map[string]func(){
		"undeclared":   func() { session.View(s.State(), total).Last() },
		"another_kind": func() { session.View(s.State(), session.LogSlice[Line]("cart")) },
		"builtin":      func() { session.View(s.State(), session.LogSlice[int]("feedback")) },
		"none":         func() { session.View(session.State{}, cart) },
		"forged_value": func() { session.View(forged, cart).At(0) },
	}
	for name, read := range cases {
		t.Run(name, func(t *testing.T) { assert.Panics(t, read) })
	}
	_, failure := session.DriverOf(s).Reduce(session.State{}, event("item_added", "{}"))
	assert.EqualError(t, failure, `reducer "cart.add": slice "cart": unknown slice`)
}
