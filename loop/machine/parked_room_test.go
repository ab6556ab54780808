package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop/machine"
)

// What is parked is of no more concern to the room that it was stepped in, which goes on with other runs.
func TestAParkedStateOutlivesItsRoom(t *testing.T) {
	room := new(machine.Room)
	story := func(bad int) machine.State {
		good := badCall("")
		good.Reply.Calls = []machine.Call{{ID: "c2", Tool: "book", Raw: "{}"}}
		st, events := fresh(t, machine.Config{}), []machine.Event{start()}
		for range bad {
			events = append(events, badCall("required"))
		}
		for _, ev := range append(events, good) {
			_, err := room.Step(&st, &ev)
			require.NoError(t, err)
		}
		return st
	}
	for bad := range 3 {
		st := story(bad)
		want, parked := snapshotOf(t, st), machine.Park(&st)
		room.Clear()
		story(1)
		story(2)
		require.Equal(t, want, snapshotOf(t, parked.State(st.Session)))
	}
}
