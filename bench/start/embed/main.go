// Command embed is the smallest run with retake: a tool, a model, a run.
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
	script := work.Small()
	book := tool.New(script.Tool, script.Description, func(context.Context, work.Booking) (work.Receipt, error) { return work.Done(), nil })
	tools, err := tool.NewSet(book)
	if err != nil {
		panic(err)
	}
	s, err := session.New(session.Config{ID: "order-42"})
	if err != nil {
		panic(err)
	}
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		arguments, answer := script.Reply((len(req.Messages) - 1) / 2)
		if answer != "" {
			return message.Reply{Text: answer, Finish: message.Stop}, nil
		}
		return message.Reply{Calls: []message.Call{{ID: "c1", Name: script.Tool, Arguments: arguments}}, Finish: message.ToolUse}, nil
	})
	l, err := loop.New(model, loop.Config{Tools: tools})
	if err != nil {
		panic(err)
	}
	result, err := l.Run(context.Background(), s, loop.Input{Prompt: script.Prompt})
	fmt.Println(result.Text, err)
}
