package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/session"
)

// An invalid message of a user names its own field and says what would be right.
func TestTheErrorOfAnInvalidMessageIsAboutTheMessage(t *testing.T) {
	long := strings.Repeat("x", 257)
	for want, w := range map[string]session.Words{
		"user's message: text: must not be empty":                        {},
		"user's message: text: has 262145 bytes, and 262144 are allowed": {Text: strings.Repeat("x", 262_145)},
		"user's message: id: give at most 256 bytes of printable text":   {Text: "Stop.", ID: long},
		"user's message: by: give at most 256 bytes of printable text":   {Text: "Stop.", By: "a\nb"},
	} {
		assert.EqualError(t, w.Validate(), want)
		assert.EqualError(t, must(session.New(session.Config{})).Say(w), want)
	}
	longest := session.Words{Text: strings.Repeat("x", 262_144)}
	assert.NoError(t, longest.Validate())
}
