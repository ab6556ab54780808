// Command embed is the least that one can write with retake: a tool, a model, a run.
package main

import (
	"context"
	"fmt"

	"github.com/retake-go/retake/bench/work"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

func main() {
	book := tool.New(work.Tool, work.Description, func(_ context.Context, b work.Booking) (work.Receipt, error) { return work.Book(b), nil })
	tools, err := tool.NewSet(book)
	if err != nil {
		panic(err)
	}
	s, err := session.New(session.Config{ID: "order-42"})
	if err != nil {
		panic(err)
	}
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		turn := (req.Messages.Len() - 1) / 2
		if turn > 1 {
			return message.Reply{Text: work.Answer, Finish: message.Stop}, nil
		}
		call := message.Call{ID: "c1", Name: work.Tool, Arguments: []string{work.BadCall, work.GoodCall}[turn]}
		return message.Reply{Calls: []message.Call{call}, Finish: message.ToolUse}, nil
	})
	result, err := loop.Run(context.Background(), model, s, work.Prompt, loop.Config{Tools: tools})
	fmt.Println(result.Text, err)
}
