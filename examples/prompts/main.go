// Command prompts shows a system prompt with data of the session: the feedback on the previous attempt, and
// a slice that a reducer keeps. It is rendered again for each model call. At the first attempt there is no
// feedback, and the prompt needs no special case.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

const prompt = `You book hotel rooms.
{{- range values "booked"}}
Booked so far: {{.city}}.
{{- end}}
{{- with feedback}}
Your last call was refused (attempt {{.Attempt}} of {{.MaxAttempts}}). Look again at:
{{- range .Issues}}
  {{.Place}}: expected {{.Expected}}
{{- end}}
{{- end}}`

type stay struct {
	City   string `json:"city" validate:"required"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

type line struct {
	City string `json:"city"`
}

var booked = session.StateSlice[line]("booked")

// remember is a reducer: a pure function of the slice and an event.
func remember(_ reducer.View[line], e stay) (reducer.Change[line], error) {
	return reducer.Append(line{e.City}), nil
}

func book(ctx context.Context, s stay) (string, error) {
	return "booked", tool.Emit(ctx, "stay_booked", s)
}

func main() {
	ctx, stop := loop.NotifyShutdown(context.Background())
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	tools, err := tool.NewSet(tool.New("book", "Book a stay.", book))
	if err != nil {
		return err
	}
	s, err := session.New(session.Config{
		ID: "trip-7", Slices: []session.Declared{booked},
		Reducers: []session.Reducer{session.On(booked, "stay_booked", "remember", remember)},
	})
	if err != nil {
		return err
	}
	call := func(arguments string) looptest.Turn {
		return looptest.Call(message.Call{ID: "c1", Name: "book", Arguments: arguments})
	}
	model := looptest.NewModel(
		call(`{"city": "Lisbon", "nights": 0}`), call(`{"city": "Lisbon", "nights": 2}`), looptest.Say("Lisbon is booked."),
	)
	l, err := loop.New(model, loop.Config{Tools: tools, System: prompt})
	if err != nil {
		return err
	}
	if _, err := l.Run(ctx, s, loop.Input{Prompt: "Lisbon."}); err != nil {
		return err
	}
	for n, r := range model.Requests() {
		fmt.Fprintf(out, "--- system prompt of call %d\n%s\n", n+1, r.System)
	}
	return nil
}
