// Command quickstart shows corrections: a model calls a tool wrongly twice and answers wrongly once. Each
// time it reads what was wrong, and corrects it. The model is a script, so no key is needed.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Booking has the arguments of the tool. The model reads the same rules as a JSON Schema.
type Booking struct {
	City   string `json:"city"   validate:"required"           jsonschema:"description=Where to stay"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
	Room   string `json:"room"   validate:"oneof=single double"`
}

// Receipt is what the tool returns.
type Receipt struct {
	Number string `json:"number"`
}

// Itinerary is the answer.
type Itinerary struct {
	City    string `json:"city"    validate:"required"`
	Nights  int    `json:"nights"  validate:"min=1"`
	Receipt string `json:"receipt" validate:"required,startswith=R-"`
}

func bookRoom(_ context.Context, b Booking) (Receipt, error) {
	return Receipt{Number: fmt.Sprintf("R-%s-%d", strings.ToLower(b.City), b.Nights)}, nil
}

// script has the model's replies: two bad calls, a good one, a bad answer, a good one.
func script() *looptest.Model {
	book := func(arguments string) looptest.Turn {
		return looptest.Call(message.Call{ID: "c1", Name: "book_room", Arguments: arguments})
	}
	return looptest.NewModel(
		book(`{"city": "Lisbon", "nights": "two"}`),
		book(`{"city": "Lisbon", "nights": 40, "room": "double"}`),
		book(`{"city": "Lisbon", "nights": 2, "room": "double"}`),
		looptest.Say("All booked! Your receipt is R-lisbon-2."),
		looptest.Say(`{"city": "Lisbon", "nights": 2, "receipt": "R-lisbon-2"}`),
	)
}

func main() {
	ctx, stop := loop.NotifyShutdown(context.Background())
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	tools, err := tool.NewSet(tool.New("book_room", "Book a hotel room.", bookRoom))
	if err != nil {
		return err
	}
	s, err := session.New(session.Config{ID: "order-42"})
	if err != nil {
		return err
	}
	model := narrator{script(), out, 0}
	l, err := loop.New(&model, loop.Config{Tools: tools})
	if err != nil {
		return err
	}
	trip, err := loop.Generate[Itinerary](ctx, l, s, loop.Input{Prompt: "Two nights in Lisbon, please."})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe answer: %+v\n\nWhat the session recorded:\n", trip.Value)
	for _, a := range trip.Attempts {
		verdict := "passed"
		if a.Class != "" {
			verdict = string(a.Class)
		}
		action := a.Action
		if action == "" {
			action = "answer"
		}
		fmt.Fprintf(out, "  %-9s attempt %d of %d: %s\n", action, a.Attempt, a.MaxAttempts, verdict)
	}
	return nil
}

// narrator prints what a model reads and what it replies.
type narrator struct {
	loop.Model
	out   io.Writer
	shown int
}

func (n *narrator) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	for _, m := range req.Messages[n.shown:] {
		if m.Role != message.Assistant {
			n.print("-> "+string(m.Role), m.Text)
		}
	}
	n.shown = len(req.Messages)
	reply, err := n.Model.Reply(ctx, req)
	for _, c := range reply.Calls {
		n.print("<- calls", c.Name+" "+c.Arguments)
	}
	if reply.Text != "" {
		n.print("<- says", reply.Text)
	}
	return reply, err
}

func (n *narrator) print(who, text string) {
	fmt.Fprintf(n.out, "%-9s %s\n", who, strings.ReplaceAll(text, "\n", "\n          "))
}
