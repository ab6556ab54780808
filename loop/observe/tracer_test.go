package observe_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
)

// The end of a model call that failed has the address of its server.
func TestTheEndOfAFailedCallHasItsSource(t *testing.T) {
	at := message.Source{Host: "api.example", Port: 443}
	assert.Equal(t, at, observe.ModelEnd(message.Reply{Source: at}, errors.New("refused"), nil).Source)
}
