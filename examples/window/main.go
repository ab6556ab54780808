// Command window is a run that says ten times as much as its model's window holds. Old results leave the
// prompt, and of every payment a line stays.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

func main() {
	tools, err := tool.NewSet(tool.New("pay", "Pays an invoice.",
		func(_ context.Context, in struct {
			Invoice int `json:"invoice"`
		}) (string, error) {
			return fmt.Sprintf("receipt %d", in.Invoice) + strings.Repeat(", with many words", 60), nil
		}))
	if err != nil {
		panic(err)
	}
	paid, most := 0, int64(0)
	var last []message.Message
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		last = req.Messages
		used := message.Usage{InputTokens: int64(projection.Bytes(last) / 4), OutputTokens: 20, APICalls: 1}
		most = max(most, used.InputTokens)
		if paid == 150 {
			return message.Reply{Text: "All is paid.", Usage: used}, nil
		}
		paid++
		return message.Reply{Usage: used, Calls: []message.Call{
			{ID: fmt.Sprint("c", paid), Name: "pay", Arguments: fmt.Sprintf(`{"invoice":%d}`, paid)},
		}}, nil
	})
	p := policy.DefaultSet()
	p.MaxTurns = policy.Unlimited
	p.Prices = policy.Prices{"example-1": {ContextWindow: new(int64(4000))}}
	l, err := loop.New(model, loop.Config{
		Tools: tools, Policy: &p, Models: map[string]machine.ModelInfo{"": {Name: "example-1"}},
	})
	if err != nil {
		panic(err)
	}
	result, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Pay them all."})
	fmt.Println(result.Text, err)
	fmt.Println("tokens of all that was said, in windows:", projection.Bytes(result.Transcript)/4/4000)
	fmt.Println("the longest prompt fits the window:", most < 4000)
	text := ""
	for _, m := range last {
		text += m.Text
		for _, c := range m.Calls {
			text += "- pay " + c.Arguments
		}
	}
	fmt.Println("payments in the last prompt:", strings.Count(text, "- pay "))
}
