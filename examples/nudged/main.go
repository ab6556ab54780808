// Command nudged is a run whose model looks at the same thing again and again: every call is valid, and
// nothing changes. At the fourth round the model is told so, and does something else.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

func main() {
	tools, err := tool.NewSet(tool.New("build_status", "Says how the build goes.",
		func(context.Context, struct{}) (string, error) { return "waiting for an approval", nil }))
	if err != nil {
		panic(err)
	}
	calls := 0
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		last := req.Messages[len(req.Messages)-1].Text
		if strings.Contains(last, "again and again") {
			fmt.Println("the model is told:", strings.SplitN(last, "\n", 2)[0])
			return message.Reply{Text: "The build waits for an approval, which I cannot give."}, nil
		}
		calls++
		return message.Reply{Calls: []message.Call{{ID: fmt.Sprint("c", calls), Name: "build_status", Arguments: "{}"}}}, nil
	})
	l, err := loop.New(model, loop.Config{Tools: tools})
	if err != nil {
		panic(err)
	}
	result, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Tell me when the build is done."})
	fmt.Println("calls:", calls)
	fmt.Println(result.Text, err)
}
