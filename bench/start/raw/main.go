// Command raw is command embed with a tool that has a JSON Schema, like those of MCP servers, instead of a
// Go type.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/retake-go/retake/bench/work"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

func main() {
	script := work.Small()
	book, err := tool.Raw(script.Tool, script.Description, script.Schema, func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"number":"R-1"}`), nil
	})
	if err != nil {
		panic(err)
	}
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
