package usercode_test

import (
	"context"
	"fmt"
	"time"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine/usercode"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// An engine asks the model in a step of its own, whose result it keeps.
func ExampleReply() {
	model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		return message.Reply{Text: "You said: " + r.Messages[0].Text}, nil
	})
	asked := usercode.Prompt{
		Call: &machine.ModelCall{Turn: 1, Transport: 1},
		Said: []message.Message{{Role: message.User, Text: "Hello."}},
	}
	reply, err := usercode.Reply(context.Background(), model, asked, time.Minute)
	fmt.Println(reply.Text, err)

	broken := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) { panic("no key") })
	_, err = usercode.Reply(context.Background(), broken, asked, time.Minute)
	fmt.Println(err)
	// Output:
	// You said: Hello. <nil>
	// panic: no key
}
