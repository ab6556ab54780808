// Command approval has a tool that pays, and a person who approves each payment in the console. The process
// may die while the person thinks: the answer waits, and the next process takes it. It pays once.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Payment is what the model asks for, and what the person sees as a form.
type Payment struct {
	To       string `json:"to" validate:"required"`
	Cents    int    `json:"cents" validate:"min=1,max=1000000"`
	Currency string `json:"currency" validate:"oneof=EUR USD"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: approval DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "approval:", err)
		os.Exit(1)
	}
}

// run begins the run, or goes on with it where a process has died.
func run(dir string) error {
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
	pay := func(_ context.Context, p Payment) (string, error) { return "paid", book(dir, p) }
	tools, err := tool.NewSet(tool.New("pay", "Pays a sum.", pay, tool.NeedsApproval(func(p Payment) bool { return p.Cents > 100 })))
	if err != nil {
		return err
	}
	l, err := loop.New(model(), loop.Config{Tools: tools})
	if err != nil {
		return err
	}
	result, err := l.Run(ctx, s, loop.Input{Prompt: "Pay ACME 5 euros."})
	if err != nil {
		return err
	}
	fmt.Println(result.Text)
	return nil
}

// model is a scripted model: put one of the adapters here.
func model() loop.Model {
	return loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		last := req.Messages[len(req.Messages)-1]
		if last.Role == message.Tool {
			return message.Reply{Text: "The bank says: " + last.Text}, nil
		}
		return message.Reply{Calls: []message.Call{{ID: "c1", Name: "pay", Arguments: `{"to":"ACME","cents":500,"currency":"EUR"}`}}}, nil
	})
}

// book is the bank.
func book(dir string, p Payment) error {
	f, err := os.OpenFile(filepath.Join(dir, "payments.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%d %s to %s\n", p.Cents, p.Currency, p.To)
	return err
}
