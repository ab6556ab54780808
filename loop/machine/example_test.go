package machine_test

import (
	"fmt"
	"time"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

func ExampleStep() {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s, _ := session.NewState("order-42")
	st, _ := machine.New(machine.Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits()}, s)
	for _, ev := range []machine.Event{
		{Kind: machine.Started, Messages: []message.Message{{Role: message.User, Text: "Say hello."}}},
		{Kind: machine.Replied, Reply: &machine.Reply{}},
		{Kind: machine.Replied, Reply: &machine.Reply{Message: message.Reply{Text: "Hello."}}},
	} {
		ev.At = now
		effects, _ := machine.Step(&st, &ev)
		for _, e := range effects {
			fmt.Println(e)
		}
	}
	// Output:
	// call the model, attempt 1 of 3
	// tell the model: neither text nor a tool call, expected a tool call or an answer
	// call the model, attempt 2 of 3
	// accept the answer, attempt 2 of 3
	// done: Hello.
}
