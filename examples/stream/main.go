// Stream shows a reply as it comes in, and takes back what did not stand: the first reply breaks off
// half-way, and the second has a number that the schema refuses.
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

// Trip is the answer that is wanted.
type Trip struct {
	City   string `json:"city"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

// screen shows one reply at a time.
type screen struct{ shown string }

// show is called with each piece as it comes in.
func (s *screen) show(d loop.Delta) {
	if d.Reset {
		fmt.Printf("take back %q\n", s.shown)
		s.shown = ""
		return
	}
	s.shown += d.Text
	fmt.Printf("turn %d, attempt %d, try %d of the request: %s\n", d.Turn, d.Attempt, d.Transport, s.shown)
}

// replies are what the model of this program says, one for each request.
var replies = []string{`{"city": "Lis`, `{"city": "Lisbon", "nights": 90}`, `{"city": "Lisbon", "nights": 9}`}

// model streams each reply in two pieces. The first breaks off: a model returns an error then.
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
	var ui screen
	trip, err := loop.Generate[Trip](context.Background(), loop.ModelFunc(model), s, "Nine nights in Lisbon.", loop.Config{},
		loop.WithStream(ui.show), loop.WithClock(looptest.NewClock())) // on this clock the wait takes no time
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
