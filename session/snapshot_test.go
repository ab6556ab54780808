package session_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// ledgerConfig is a session with a slice of each kind and one reducer that may refuse.
func ledgerConfig() session.Config {
	return session.Config{
		Slices: []session.Declared{total, audit},
		Reducers: []session.Reducer{
			session.On(audit, "paid", "note", func(_ reducer.View[string], n int) (reducer.Change[string], error) {
				return reducer.Extend(strings.Repeat("é", n&7), "<&\u2028"), nil
			}),
			session.On(total, "paid", "sum", func(v reducer.View[int], n int) (reducer.Change[int], error) {
				if n < 0 {
					return reducer.None[int](), errors.New("negative")
				}
				return sums(v, n)
			}),
		},
	}
}

// Snapshot, Restore, Snapshot gives the same bytes. A restored session behaves like the original, and a
// failed event changes no slice.
func TestSnapshotRestoreIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := must(session.New(ledgerConfig()))
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "log") {
				if err := session.DriverOf(live).Acquire(); err != nil {
					t.Fatal(err)
				}
				next := step(t, live.State())
				if err := session.DriverOf(live).Replace(next); err != nil {
					t.Fatal(err)
				}
				session.DriverOf(live).Release()
			}
			restored, err := session.Restore(ledgerConfig(), must(live.Snapshot()))
			if err != nil {
				t.Fatal(err)
			}
			before := live.State().Slices()
			paid := must(session.NewEvent("paid", rapid.IntRange(-3, 9).Draw(t, "paid")))
			one, other := live.Dispatch(paid), restored.Dispatch(paid)
			if (one == nil) != (other == nil) {
				t.Fatalf("live %v, restored %v", one, other)
			}
			if one != nil {
				assert.Equal(t, before, live.State().Slices())
			}
			if a, b := must(live.Snapshot()), must(restored.Snapshot()); !bytes.Equal(a, b) {
				t.Fatalf("live %s, restored %s", a, b)
			}
		}
	})
}

func TestRestoreRefuses(t *testing.T) {
	const head = `{"format":"retake.session/1","id":"s",`
	cases := map[string]struct{ snapshot, want string }{
		"nothing":            {``, `snapshot: must be one strict JSON text: not strict JSON: syntax at byte 0`},
		"trailing_data":      {head + `"slices":[]} {}`, `snapshot: must be one strict JSON text: not strict JSON: trailing_data at byte 50`},
		"duplicate_member":   {head + `"id":"t"}`, `snapshot: must be one strict JSON text: JSON with a duplicate name at /id`},
		"another_shape":      {`[]`, `snapshot: must be an object with a format: JSON value at the top does not fit Go type session.header`},
		"no_format":          {`{}`, `snapshot: format: must be "retake.session/1", is ""`},
		"newer_format":       {`{"format":"retake.session/2","new":1}`, `snapshot: format: must be "retake.session/1", is "retake.session/2"`},
		"unknown_member":     {head + `"extra":1}`, `snapshot: must have the members of retake.session/1 only: JSON member /extra is unknown`},
		"unknown_in_record":  {head + `"attempts":[{"action":"a","mood":1}]}`, `snapshot: must have the members of retake.session/1 only: JSON member /attempts/0/mood is unknown`},
		"wrong_type":         {head + `"attempts":{}}`, `snapshot: must have the members of retake.session/1 only: JSON value at /attempts does not fit Go type []session.Attempt`},
		"null_feedback":      {head + `"feedback":[null]}`, "snapshot: must have the members of retake.session/1 only: JSON value at /feedback/0 does not fit Go type feedback.RetryFeedback"},
		"bad_id":             {`{"format":"retake.session/1","id":"\u0000"}`, `snapshot: id: must be a session's id: session config: id: must be UTF-8 without control characters`},
		"bad_name":           {head + `"slices":[{"name":"Total","kind":"state","values":[]}]}`, `snapshot: slices[0]: name "Total" must match ^[a-z][a-z0-9_.-]{0,63}$`},
		"builtin_name":       {head + `"slices":[{"name":"feedback","kind":"log","values":[]}]}`, `snapshot: slices[0]: name "feedback" is reserved for a built-in log`},
		"named_twice":        {head + `"slices":[{"name":"total","kind":"state","values":[]},{"name":"total","kind":"state","values":[]}]}`, `snapshot: slices[1]: name "total" appears twice`},
		"no_such_kind":       {head + `"slices":[{"name":"total","kind":"queue","values":[]}]}`, `snapshot: slices[0]: kind must be "state" or "log", is "queue"`},
		"another_kind":       {head + `"slices":[{"name":"total","kind":"log","values":[]}]}`, `slice "total": the slice is declared with another kind`},
		"negative_cost":      {head + `"charged":{"cost_micros":-1}}`, `snapshot: charged: must have counts of 0 or more`},
		"negative_input":     {head + `"charged":{"usage":{"input_tokens":-1}}}`, `snapshot: charged: must have counts of 0 or more`},
		"negative_output":    {head + `"charged":{"usage":{"output_tokens":-1}}}`, `snapshot: charged: must have counts of 0 or more`},
		"negative_runs":      {head + `"runs":-1}`, `snapshot: runs: must be 0 or more`},
		"no_success":         {head + `"successes":[{"tool":"a","n":0}]}`, `snapshot: successes[0]: must be the only count of its tool, 1 or more`},
		"counted_twice":      {head + `"successes":[{"tool":"a","n":1},{"tool":"a","n":1}]}`, `snapshot: successes[1]: must be the only count of its tool, 1 or more`},
		"no_reply":           {head + `"max_replies":{"m":0}}`, `snapshot: max_replies["m"]: must be 1 or more`},
		"unknown_slices":     {head + `"slices":[{"name":"zoo","kind":"log","values":[]},{"name":"ark","kind":"log","values":[]}]}`, "slice \"ark\": unknown slice\nslice \"zoo\": unknown slice"},
		"misfit":             {head + `"slices":[{"name":"total","kind":"state","values":[1,"2",3]}]}`, `slice "total", value 1: JSON value at the top does not fit Go type int`},
		"cut_of_nothing":     {head + `"kept":{"cuts":[{"step":"window","from":0,"to":1}]}}`, `snapshot: kept: must have turns and cuts of the conversation, in order`},
		"turn_of_nothing":    {head + `"conversation":[{"role":"user","text":"a"}],"kept":{"turns":[{"from":0,"to":2}]}}`, `snapshot: kept: must have turns and cuts of the conversation, in order`},
		"misfits_everywhere": {head + `"slices":[{"name":"audit","kind":"log","values":[1]},{"name":"total","kind":"state","values":[{}]}]}`, "slice \"audit\", value 0: JSON value at the top does not fit Go type string\nslice \"total\", value 0: JSON value at the top does not fit Go type int"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := session.Restore(ledgerConfig(), []byte(c.snapshot))
			assert.Nil(t, s)
			assert.EqualError(t, err, c.want)
		})
	}
	_, err := session.ParseState(make([]byte, session.MaxSnapshotBytes+1))
	assert.EqualError(t, err, "snapshot: must have at most 67108864 bytes, has 67108865")
}

func TestRestoreTakesWhatFits(t *testing.T) {
	snapshot := []byte("{\"slices\": [{\"kind\":\"state\", \"name\":\"total\", \"values\":[1, null, 2]}],\n\"id\":\"s\", \"format\":\"retake.session/1\"}")
	s, err := session.Restore(ledgerConfig(), snapshot)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 0, 2}, values(s, total), "null reads as encoding/json reads it")
	raw, _ := s.State().Values("total")
	assert.Equal(t, rawValues("1", "null", "2"), raw)
	assert.Empty(t, values(s, audit), "a slice that is new is empty")
	assert.Equal(t, "s", s.ID())
	require.NoError(t, s.Dispatch(event("paid", "3")))
	assert.Equal(t, []int{5}, values(s, total))

	cfg := ledgerConfig()
	cfg.ID = "other"
	_, err = session.Restore(cfg, snapshot)
	assert.EqualError(t, err, "session config: id: must be empty or the id of the state")
	cfg.Slices, cfg.Reducers = nil, nil
	_, err = session.Restore(cfg, snapshot)
	assert.ErrorContains(t, err, "session config: id: must be empty or the id of the state\nslice ", "all faults at once")
	s, err = session.Restore(cfg, must(session.State{}.Snapshot()))
	require.NoError(t, err)
	assert.Equal(t, "other", s.ID())
}

// The form of snapshots is stable: the first version wrote this one, and every version must read it.
func TestFirstSnapshotIsStillRead(t *testing.T) {
	raw, err := os.ReadFile("testdata/snapshot_v1.json")
	require.NoError(t, err)
	s, err := session.Restore(ledgerConfig(), raw)
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSpace(string(raw)), snapshotOf(t, s))
	assert.Equal(t, []int{7}, values(s, total))
	said := s.State().Feedback()
	require.NotEmpty(t, said)
	newest := said[len(said)-1]
	assert.Equal(t, "book_room", newest.ToolName)
	assert.Equal(t, fault.ToolValidation, newest.ErrorType)
}

func FuzzRestore(f *testing.F) {
	live := must(session.New(ledgerConfig()))
	_ = live.Dispatch(event("paid", "7"), event("paid", "-1"))
	f.Add(must(live.Snapshot()))
	f.Add(must(live.State().AddFeedback(toolFeedback("book", 1)).AddAttempt(session.Attempt{Action: "book", Attempt: 1}).Snapshot()))
	f.Add([]byte(`{"format":"retake.session/1","id":"s","slices":[{"name":"total","kind":"state","values":[null,1]}]}`))
	f.Add([]byte(`{"format":"retake.session/1","attempts":[{"at":"9999-12-31T23:59:59-12:00","delay_ns":-1,"usage":{"input_tokens":-1}}]}`))
	f.Add([]byte(`{"format":"retake.session/1","slices":null,"feedback":[null]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := session.Restore(ledgerConfig(), raw)
		if err != nil {
			return
		}
		once, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		again, err := session.Restore(ledgerConfig(), once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := must(again.Snapshot()); !bytes.Equal(once, twice) {
			t.Fatalf("first %s, then %s", once, twice)
		}
	})
}
