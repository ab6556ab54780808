package session_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/session"
)

func TestASessionHasNoVerbsOfDrivers(t *testing.T) {
	var verbs []string
	for m := range reflect.TypeFor[*session.Session]().Methods() {
		verbs = append(verbs, m.Name)
	}
	assert.Equal(t, []string{"Answer", "Conversation", "Dispatch", "ID", "OnReducerError", "RestoreSlices", "Say", "Snapshot", "State"}, verbs)
}
