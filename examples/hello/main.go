// Command hello asks a model for a Go value. The model is a script: its first answer has a word where a
// number belongs, so it is asked again.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
)

// Trip is the answer. The model is shown its rules as a JSON Schema.
type Trip struct {
	City   string `json:"city" validate:"required"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

func main() {
	ctx, stop := loop.NotifyShutdown(context.Background())
	defer stop()
	model := looptest.NewModel(
		looptest.Say(`{"city": "Lisbon", "nights": "two"}`),
		looptest.Say(`{"city": "Lisbon", "nights": 2}`))
	l, err := loop.New(model, loop.Config{})
	if err != nil {
		log.Fatal(err)
	}
	trip, err := loop.Generate[Trip](ctx, l, nil, loop.Input{Prompt: "Two nights in Lisbon, please."})
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range trip.Attempts {
		fmt.Println(looptest.AttemptText(a), a.Issues)
	}
	fmt.Printf("%+v\n", trip.Value)
}
