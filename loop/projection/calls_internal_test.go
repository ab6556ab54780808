package projection

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/message"
)

// A history of other programs may have no ids: then each call has the answer of its own name.
func TestCallsWithoutIDsHaveTheirOwnAnswers(t *testing.T) {
	reply := &message.Message{Role: message.Assistant, Calls: []message.Call{
		{Name: "pay", Arguments: `{"n":1}`}, {Name: "ship"}, {Name: "pay", Arguments: `{"n":2}`},
	}}
	answers := []message.Message{
		{Role: message.Tool, Name: "ship", Text: "no truck", IsError: true},
		{Role: message.Tool, Name: "pay", Text: "paid 1"},
	}
	assert.Equal(t, []Call{
		{Tool: "pay", Arguments: `{"n":1}`, Said: "paid 1", derived: true},
		{Tool: "ship", Said: "no truck", Failed: true, derived: true},
		{Tool: "pay", Arguments: `{"n":2}`, InDoubt: true, derived: true},
	}, calls(reply, answers))
}
