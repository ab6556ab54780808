package machine

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/session"
)

// Each field of an action, and of what a tool spent, is set alone: one that is forgotten fails here.
func TestOpenActionsAreParkedWhole(t *testing.T) {
	actions, spent := make([]Action, 1), make([]ToolSpent, 1)
	for n := range reflect.TypeFor[Action]().NumField() {
		var a Action
		switch f := reflect.TypeFor[Action]().Field(n); f.Name {
		case "Last":
			a.Last = &feedback.RetryFeedback{Attempt: 7}
		case "proposed": // it only spares a hash
			continue
		default:
			setAlone(reflect.ValueOf(&a).Elem().Field(n))
		}
		actions = append(actions, a)
	}
	for n := range reflect.TypeFor[ToolSpent]().NumField() {
		var s ToolSpent
		setAlone(reflect.ValueOf(&s).Elem().Field(n))
		spent = append(spent, s)
	}
	st := State{Actions: actions, Spent: Spent{Tools: spent}}
	back := Park(&st).State(st.Session)
	assert.Equal(t, actions, back.Actions)
	assert.Equal(t, spent, back.Spent.Tools)
}

// What was spent is kept where nothing is open any more, also as a snapshot may say it that no run wrote.
func TestWhatWasSpentIsParkedAlone(t *testing.T) {
	for _, spent := range []Spent{{Run: 1}, {Unknown: 1}, {Run: -1}, {Unknown: -1}} {
		st := State{Spent: spent}
		back := Park(&st).State(st.Session)
		assert.Equal(t, spent, back.Spent)
	}
}

func setAlone(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	default:
		v.SetInt(1 << 40)
	}
}

// The feedback of an open action is kept where the session has it, and else beside the state: as often as that is asked for.
func TestFeedbackIsParkedWithItsSession(t *testing.T) {
	var held session.State
	var told []*feedback.RetryFeedback
	for n := range 3 * maxBack {
		next, _, f := held.Draft(true)
		f.Attempt = n + 1
		held, told = next, append(told, f)
	}
	foreign := &feedback.RetryFeedback{Attempt: 1}
	last := len(told) - 1
	st := State{Session: held, Actions: []Action{
		{Name: "early", Last: told[0]}, {Name: "far", Last: told[last-maxBack]}, {Name: "foreign", Last: foreign},
		{Name: "late", Last: told[last]}, {Name: "near", Last: told[last-maxBack+1]}, {Name: "none"},
	}}
	parked := Park(&st)
	for range 2 {
		back := parked.State(held)
		require.Equal(t, st.Actions, back.Actions)
		for n, a := range st.Actions {
			same := a.Last == back.Actions[n].Last
			assert.Equal(t, a.Name == "late" || a.Name == "near" || a.Name == "none", same, a.Name)
		}
	}
}
