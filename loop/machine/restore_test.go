package machine_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/race"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// phases returns a state in each phase, with all that a snapshot can hold of it.
func phases(t require.TestingT) map[string]machine.State {
	all := map[string]machine.State{}
	st := idle(t)
	take := func(name string, ev machine.Event) machine.State {
		ev.At = later(epoch, st.At)
		_, err := machine.Step(&st, &ev)
		require.NoError(t, err, name)
		all[name] = st
		return st
	}
	lost := func(index int, class fault.Class) machine.Event {
		return machine.Event{Kind: machine.ToolEnded, Tool: &machine.ToolEnd{Index: index, Verdict: machine.Broke,
			Failure: &fault.Failure{Plane: fault.Transport, Class: class}}}
	}
	calls := &machine.Reply{Native: true, Calls: []machine.Call{
		{ID: "c1", Tool: "a", Arguments: []byte(`{}`), Repeatable: true},
		{ID: "c2", Tool: "b", Class: fault.ToolValidation, Issues: []fault.Issue{{Rule: "required", Pointer: "/x"}}},
		{ID: "c3", Tool: "c", Arguments: []byte(`{}`)},
		{ID: "c4", Tool: "d", Arguments: []byte(`{}`)},
	}}
	begin := machine.Event{Kind: machine.Started, Messages: []message.Message{{Role: message.User, Text: "Go."}},
		Hears: []string{session.EventExhausted}}
	all["idle"] = st
	calling := take("calling", begin)
	take("running", machine.Event{Kind: machine.Replied, Reply: calls})
	take("in_doubt", lost(0, fault.Timeout))
	take("asked_again", machine.Event{Kind: machine.ToolEnded, Tool: &machine.ToolEnd{Index: 2, Verdict: machine.AskAgain,
		Progress: []byte(`"half"`), Issues: []fault.Issue{{Rule: "maximum", Pointer: "/n"}}}})
	st = take("calls_wait", lost(3, fault.Network))
	st.At = st.At.Add(time.Minute)
	take("running_again", machine.Event{Kind: machine.Woke})
	take("waiting", machine.Event{Kind: machine.ToolEnded, Tool: &machine.ToolEnd{Verdict: machine.Done, Result: []byte(`"ok"`)}})
	st = calling
	take("consulting", machine.Event{Kind: machine.CallFailed, Failure: &fault.Failure{Plane: fault.Transport, Class: fault.RateLimit}})
	st = calling
	for n := range 3 {
		take("corrected", machine.Event{Kind: machine.Replied, Reply: &machine.Reply{
			Answer: &machine.Answer{Issues: []fault.Issue{{Rule: "required", Pointer: "/x"}}}}})
		if n < 2 {
			st.At = st.At.Add(time.Minute)
			take("called_again", machine.Event{Kind: machine.Woke})
		}
	}
	all["reducing"] = st
	take("planning", machine.Event{Kind: machine.ReducersRan, Reductions: []machine.Reduced{{}}})
	take("stopped", machine.Event{Kind: machine.Planned, Plan: &machine.Plan{Do: machine.Abort}})
	st = single(t)
	take("trying", begin)
	take("try_waits", machine.Event{Kind: machine.Tried, Try: &machine.Try{
		Failure: fault.Failure{Plane: fault.Transport, Class: fault.Timeout}}})
	return all
}

// single is an idle state for the tries of one action.
func single(t require.TestingT) machine.State {
	st := idle(t)
	cfg := *st.Config
	cfg.Single, cfg.Action, cfg.System = true, "book", ""
	st, err := machine.New(cfg, st.Session)
	require.NoError(t, err)
	return st
}

// strange are values that a snapshot may be given by hand.
var strange = []string{`null`, `-1`, `99`, `9223372036854775807`, `-9223372036854775808`, `""`, `"x"`, `[]`, `[null]`, `{}`, `[{}]`,
	`true`, `"transport"`, `"turn"`, `"call"`, `"tools"`, `"doubtful"`, `"9999-01-01T00:00:00Z"`}

// changed returns the tree with one node replaced: the node at place n, counting from 0. n is below 0 if
// there was such a node.
func changed(tree any, n *int, by any) any {
	if *n--; *n == -1 {
		return by
	}
	switch v := tree.(type) {
	case map[string]any:
		v = maps.Clone(v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key] = changed(v[key], n, by)
		}
		return v
	case []any:
		v = slices.Clone(v)
		for at := range v {
			v[at] = changed(v[at], n, by)
		}
		return v
	}
	return tree
}

// A snapshot with any one value replaced is refused.
func TestAChangedSnapshotIsRefused(t *testing.T) {
	step := 1
	if race.Enabled { // which makes it ten times as slow, and one goroutine has no race
		step = 10
	}
	for name, st := range phases(t) {
		t.Run(name, func(t *testing.T) {
			text, err := st.Snapshot()
			require.NoError(t, err)
			var tree map[string]any
			require.NoError(t, json.Unmarshal(text, &tree))
			restored, err := machine.Restore([]byte(encoded(t, tree)))
			require.NoError(t, err, "white space and the order of members say nothing")
			requireUnchanged(t, restored, text)
			for place := 1; ; place += step {
				left := place
				changed(tree, &left, nil)
				if left >= 0 {
					break
				}
				for _, value := range strange {
					left = place
					snapshot := encoded(t, changed(tree, &left, json.RawMessage(value)))
					if same, err := canon.JSON([]byte(snapshot)); err == nil && bytes.Equal(same, text) {
						continue
					}
					_, err := machine.Restore([]byte(snapshot))
					require.ErrorContains(t, err, "snapshot: ", "%s", snapshot)
				}
			}
		})
	}
}
