// Stream shows a reply while it arrives, and takes it back if it is replaced: the first reply breaks off,
// and the schema refuses a number in the second.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// Trip is the answer.
type Trip struct {
	City   string `json:"city"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

// screen shows one reply at a time.
type screen struct{ shown string }

// show is called with each piece when it arrives.
func (s *screen) show(d loop.Delta) {
	if d.Reset {
		fmt.Printf("take back %q\n", s.shown)
		s.shown = ""
		return
	}
	s.shown += d.Text
	fmt.Printf("turn %d, attempt %d, try %d of the request: %s\n", d.Turn, d.Attempt, d.Transport, s.shown)
}

// replies are the model's replies, one for each request.
var replies = []string{`{"city": "Lis`, `{"city": "Lisbon", "nights": 90}`, `{"city": "Lisbon", "nights": 9}`}

// model streams each reply in two pieces. The first reply breaks off: a model then returns an error.
func model(_ context.Context, req loop.Request) (message.Reply, error) {
	text := replies[0]
	replies = replies[1:]
	before, after, _ := strings.Cut(text, ",")
	req.Stream(loop.Delta{Call: -1, Text: before})
	if after == "" {
		return message.Reply{}, &fault.ProviderError{Class: fault.Network, Provider: "example", Message: "the connection broke"}
	}
	req.Stream(loop.Delta{Call: -1, Text: "," + after})
	return message.Reply{Text: text, Finish: message.Stop}, nil
}

func run() error {
	s, err := session.New(session.Config{ID: "trip-1"})
	if err != nil {
		return err
	}
	ctx, stop := loop.NotifyShutdown(context.Background())
	defer stop()
	var ui screen
	l, err := loop.New(loop.ModelFunc(model), loop.Config{}, loop.WithStream(ui.show), loop.WithClock(looptest.NewClock()))
	if err != nil {
		return err
	}
	trip, err := loop.Generate[Trip](ctx, l, s, loop.Input{Prompt: "Nine nights in Lisbon."}) // on this clock the wait takes no time
	if err != nil {
		return err
	}
	fmt.Printf("answer: %+v\n", trip.Value)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
