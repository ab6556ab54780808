// Command ownloop embeds retake in a runtime with its own loop. The runtime still asks its model and runs
// its tools. loop.Attempts decides whether and when to try again, and with which words.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

type transfer struct {
	To     string `json:"to"     validate:"required"`
	Amount int    `json:"amount" validate:"min=1,max=500"`
}

// runtime is the loop you already have.
type runtime struct {
	out   io.Writer
	model func(prompt string) (arguments string)
	tool  *tool.Tool
}

// act asks the model for the arguments of one call until they can be used.
func (r *runtime) act(ctx context.Context, s *session.Session, task string) (string, error) {
	var accepted string
	attempts := loop.Attempts(ctx, s, loop.ToolCall(r.tool.Name()))
	for attempt := range attempts.All() {
		prompt := task
		if attempt.Number > 1 {
			prompt += "\n" + feedback.Render(attempt.Feedback(), feedback.DefaultLimits())
		}
		fmt.Fprintf(r.out, "--- prompt of attempt %d of %d\n%s\n", attempt.Number, attempt.Max, prompt)
		accepted = r.model(prompt)
		fmt.Fprintf(r.out, "--- the model calls %s %s\n", r.tool.Name(), accepted)
		attempt.End(r.check(accepted))
	}
	return accepted, attempts.Err()
}

func (r *runtime) check(arguments string) error {
	if issues := r.tool.Check([]byte(arguments)); len(issues) > 0 {
		return &fault.ToolValidationError{Tool: r.tool.Name(), Issues: issues}
	}
	return nil
}

func main() {
	ctx, stop := loop.NotifyShutdown(context.Background())
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	s, err := session.New(session.Config{ID: "run-1"})
	if err != nil {
		return err
	}
	pay := tool.New("pay", "Transfer money.", func(context.Context, transfer) (string, error) { return "ok", nil })

	learns := &runtime{out: out, tool: pay, model: replies(`{"to": "Ana", "amount": "20"}`, `{"to": "Ana", "amount": 20}`)}
	accepted, err := learns.act(ctx, s, "Pay Ana 20.")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "--- accepted: %s\n\n", accepted)

	stubborn := &runtime{out: out, tool: pay, model: replies(`{"amount": 900}`, `{"amount": 900}`, `{"amount": 900}`)}
	_, err = stubborn.act(ctx, s, "Pay Ana 900.")
	var exhausted *loop.RetryExhaustedError
	if errors.As(err, &exhausted) {
		fmt.Fprintf(out, "--- given up after %d attempts: %s\n", len(exhausted.Attempts), exhausted.Reason.Phrase())
	}
	return nil
}

// replies is a model that returns these replies in order.
func replies(all ...string) func(string) string {
	return func(string) string {
		next := all[0]
		all = all[1:]
		return next
	}
}
