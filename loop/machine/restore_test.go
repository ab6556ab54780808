package machine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
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
	take("consulting", lost(3, fault.Network))
	st = take("calls_wait", machine.Event{Kind: machine.Planned, Plan: &machine.Plan{Do: machine.Follow}})
	st.At = st.At.Add(time.Minute)
	take("running_again", machine.Event{Kind: machine.Woke})
	take("waiting", machine.Event{Kind: machine.ToolEnded, Tool: &machine.ToolEnd{Verdict: machine.Done, Result: []byte(`"ok"`)}})
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

// strange are values that a snapshot has in no place that later code trusts.
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

// survives steps a restored state by every event, two deep, and asks it all that drivers ask.
func survives(st machine.State, deep int) {
	_, _ = st.Snapshot()
	_, _, _ = st.Attempt("a"), st.Feedback("a"), st.Attempts()
	for _, ev := range anyEvents(st) {
		next := st
		effects, err := machine.Step(&next, &ev)
		if err != nil {
			continue
		}
		for _, e := range effects {
			_ = e.String()
			_ = next.Left(e)
		}
		if deep > 0 {
			survives(next, deep-1)
		}
	}
}

// A snapshot with any one value replaced is refused, or steps without a panic.
func TestAChangedSnapshotIsRefusedOrGoesOn(t *testing.T) {
	for name, st := range phases(t) {
		t.Run(name, func(t *testing.T) {
			text, err := st.Snapshot()
			require.NoError(t, err)
			var tree map[string]any
			require.NoError(t, json.Unmarshal(text, &tree))
			held := map[string]any{}
			for _, key := range []string{"config", "policy", "session", "format", "transcript"} {
				held[key] = tree[key]
				delete(tree, key)
			}
			every := 1
			if testing.Short() {
				every = 4
			}
			for place := 1; ; place += every {
				left := place
				changed(tree, &left, nil)
				if left >= 0 {
					break
				}
				for _, value := range strange {
					left = place
					next := changed(tree, &left, json.RawMessage(value)).(map[string]any)
					maps.Copy(next, held)
					snapshot := encoded(t, next)
					restored, err := machine.Restore([]byte(snapshot))
					if err == nil && !assert.NotPanics(t, func() { survives(restored, 0) }, "%s", snapshot) {
						return
					}
				}
			}
		})
	}
}

// with returns the snapshot of a state with the value at a path of keys and indices replaced.
func with(t *testing.T, st machine.State, path, value string) string {
	text, err := st.Snapshot()
	require.NoError(t, err)
	var tree any
	require.NoError(t, json.Unmarshal(text, &tree))
	parent, keys := tree, strings.Split(path, ".")
	for _, key := range keys[:len(keys)-1] {
		if n, err := strconv.Atoi(key); err == nil {
			parent = parent.([]any)[n]
		} else {
			parent = parent.(map[string]any)[key]
		}
	}
	parent.(map[string]any)[keys[len(keys)-1]] = json.RawMessage(value)
	return encoded(t, tree)
}

func TestRestoreNamesTheFieldThatIsWrong(t *testing.T) {
	all := phases(t)
	for _, tt := range []struct{ state, path, value, want string }{
		{"running", "batch.calls", `[null]`, `batch.calls[0]: null; must be a call`},
		{"running", "batch.calls.0.status", `"eaten"`, `batch.calls[0].status: "eaten"; must be`},
		{"running", "batch.calls.0.transport", `-1`, `batch.calls[0].transport: -1; must be 0 or more`},
		{"running", "batch.cursor", `1`, `batch.cursor: 1 names no call without an answer`},
		{"running", "batch", `null`, `batch: missing, and calls are to be run`},
		{"waiting", "next", `"dance"`, `next: "dance" is not a next step`},
		{"stopped", "outcome", `null`, `outcome: missing, and the run is over`},
		{"stopped", "phase", `"planning"`, `exhausted: missing, and the planner is asked`},
		{"running", "batch.calls", `[{"id":"c1","tool":"d","index":0,"key":"k","transport":1}]`,
			`batch.calls[0]: a call to run needs its arguments, key and transport attempt`},
		{"running", "batch.calls.0.key", `""`, `batch.calls[0]: a call to run needs its arguments, key and`},
		{"running", "batch.calls.0.index", `1`, `batch.calls[0].index: 1; must be 0`},
		{"running", "batch.rest", `null`, `batch.rest: missing, and calls are to be run`},
		{"running", "batch.rest.sharers", `0`, `batch.rest: missing, and calls are to be run`},
		{"running", "batch.rest.failed", `-1`, `batch.rest.failed: -1; must be 0 or more`},
		{"consulting", "consults.0.index", `1`, `consults[0].index: 1 names no call of "d" without an answer`},
		{"calls_wait", "transport_wait", `null`, `correction_wait and transport_wait: missing, and the run waits`},
		{"trying", "phase", `"calling"`, `phase: not that of a single action`},
		{"calling", "phase", `"trying"`, `phase: a try, and the run is not single`},
		{"corrected", "actions.0.number", `99`, `opened: `},
		{"corrected", "actions.0.attempt", `-1`, `actions[0].attempt: -1; must be 0 or more`},
	} {
		t.Run(fmt.Sprintf("%s_%s", tt.state, tt.path), func(t *testing.T) {
			_, err := machine.Restore([]byte(with(t, all[tt.state], tt.path, tt.value)))
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// Whatever a changed snapshot says, it is refused or can be stepped. The first number chooses the state, the
// second the value that is replaced.
func FuzzRestoreChanged(f *testing.F) {
	all := phases(f)
	names := slices.Sorted(maps.Keys(all))
	trees := make([]any, len(names))
	for n, name := range names {
		text, err := all[name].Snapshot()
		require.NoError(f, err)
		require.NoError(f, json.Unmarshal(text, &trees[n]))
		for at, value := range strange {
			f.Add(uint(n), uint(7*at), value)
		}
	}
	f.Fuzz(func(t *testing.T, state, place uint, value string) {
		left := int(place%2000) + 1
		if !json.Valid([]byte(value)) {
			return
		}
		text, err := json.Marshal(changed(trees[state%uint(len(trees))], &left, json.RawMessage(value)))
		require.NoError(t, err)
		if st, err := machine.Restore(text); err == nil {
			survives(st, 1)
		}
	})
}
