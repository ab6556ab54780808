// Command budget is a run that may cost 0.05. Before each call its cost is projected; the first that does not
// fit what is left is not made.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

func main() {
	tools, err := tool.NewSet(tool.New("read_page", "Reads a page.",
		func(_ context.Context, in struct {
			Page int `json:"page"`
		}) (string, error) {
			return fmt.Sprint("This is page ", in.Page, "."), nil
		}))
	if err != nil {
		panic(err)
	}
	pages := 0
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		pages++
		return message.Reply{
			Calls: []message.Call{{ID: fmt.Sprint("c", pages), Name: "read_page", Arguments: fmt.Sprintf(`{"page":%d}`, pages)}},
			Usage: message.Usage{InputTokens: int64(1000 * pages), OutputTokens: 50, APICalls: 1},
		}, nil
	})
	p := policy.DefaultSet()
	p.Prices = policy.Prices{"example-1": {Input: 1_000_000, Output: 4_000_000}} // 1 and 4 for a million tokens
	p.Spending.Run.Cost = new(int64(50_000))                                     // 0.05
	p.Spending.MaxReply = new(int64(100))
	l, err := loop.New(model, loop.Config{
		Tools: tools, Policy: &p, Models: map[string]machine.ModelInfo{"": {Name: "example-1"}},
	})
	if err != nil {
		panic(err)
	}
	_, err = l.Run(context.Background(), nil, loop.Input{Prompt: "Read the book."})
	fmt.Println(err)
	var x *loop.RetryExhaustedError
	if errors.As(err, &x) {
		fmt.Printf("%d pages, cost %.6f of 0.05\n", pages, float64(x.Cost)/1e6)
	}
}
