package talk_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/message"
)

func TestCallsWithoutAResult(t *testing.T) {
	asked := func(calls ...message.Call) message.Message {
		return message.Message{Role: message.Assistant, Calls: calls}
	}
	result := func(id, name string) message.Message {
		return message.Message{Role: message.Tool, CallID: id, Name: name}
	}
	pay, send := message.Call{ID: "a", Name: "pay"}, message.Call{ID: "b", Name: "send"}
	nameless := message.Call{Name: "pay"}
	for name, c := range map[string]struct {
		said []message.Message
		want []message.Call
	}{
		"nothing was said": {},
		"nothing was called": {said: []message.Message{
			asked(pay), result("a", ""), {Role: message.User}, {Role: message.Assistant}}},
		"nothing came":                {said: []message.Message{asked(pay, send)}, want: []message.Call{pay, send}},
		"one came":                    {said: []message.Message{asked(pay, send), result("b", "")}, want: []message.Call{pay}},
		"both came":                   {said: []message.Message{asked(pay, send), result("b", ""), {Role: message.User}, result("a", "")}},
		"by id before name":           {said: []message.Message{asked(nameless, message.Call{ID: "c", Name: "pay"}), result("c", "pay")}, want: []message.Call{nameless}},
		"by name":                     {said: []message.Message{asked(nameless, send), result("call-1", "pay")}, want: []message.Call{send}},
		"twice the same":              {said: []message.Message{asked(pay, pay), result("a", "pay")}, want: []message.Call{pay}},
		"of an earlier reply":         {said: []message.Message{asked(pay), {Role: message.User}, asked(send), result("a", "pay")}, want: []message.Call{send}},
		"of a call that nobody made":  {said: []message.Message{asked(pay), result("x", "send")}, want: []message.Call{pay}},
		"the first is taken, not two": {said: []message.Message{asked(pay, send), result("a", "pay"), result("a", "send")}},
	} {
		assert.Equal(t, c.want, talk.Unanswered(c.said), name)
	}
}
