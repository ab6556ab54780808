// Command payment has a tool that pays and never runs twice: not after the connection broke during a
// payment, and not after the process died in it. The model reads that the payment may have happened, and
// asks the bank.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Payment is what the model asks for.
type Payment struct {
	To  string `json:"to" validate:"required"`
	Sum int    `json:"sum" validate:"min=1"`
}

// bank books a payment, and then the connection breaks.
type bank struct{ booked []string }

// pay declares nothing, so the call is not repeated, whatever its error says.
func (b *bank) pay(ctx context.Context, p Payment) (string, error) {
	b.booked = append(b.booked, fmt.Sprintf("%d to %s", p.Sum, p.To))
	return "", errors.New("payment accepted, but reading the receipt failed: connection reset by peer")
}

// list is read-only, so it may run any number of times.
func (b *bank) list(context.Context, struct{}) ([]string, error) { return b.booked, nil }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	b := &bank{}
	tools, err := tool.NewSet(
		tool.New("pay", "Pays a sum.", b.pay),
		tool.New("payments", "Lists the payments that were booked.", b.list, tool.ReadOnly()),
	)
	if err != nil {
		return err
	}
	model := looptest.NewModel( // a scripted model: put one of the adapters here
		looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"to":"Ana","sum":40}`}),
		looptest.Call(message.Call{ID: "c2", Name: "payments", Arguments: `{}`}),
		looptest.Say("Ana has her 40."),
	)
	dir, err := os.MkdirTemp("", "payment")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// The journal records the start of each call before the tool runs. A process that continues after a
	// crash does not repeat the call either.
	ctx, stop := loop.NotifyShutdown(context.Background())
	defer stop()
	j, err := journal.Open(ctx, journal.Dir(dir), "order-42", journal.Settings{})
	if err != nil {
		return err
	}
	defer j.Close()
	s, err := session.New(session.Config{Journal: j})
	if err != nil {
		return err
	}
	l, err := loop.New(model, loop.Config{Tools: tools})
	if err != nil {
		return err
	}
	result, err := l.Run(ctx, s, loop.Input{Prompt: "Pay Ana 40."})
	if err != nil {
		return err
	}
	for _, m := range result.Transcript {
		if m.Role == message.Tool {
			fmt.Printf("%s: %s\n", m.Name, m.Text)
		}
	}
	fmt.Println(result.Text)
	fmt.Println("booked:", b.booked)
	fmt.Println("warnings:", result.Warnings)
	return nil
}
