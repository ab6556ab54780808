package degrade_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/looptest"
)

// The history is optional: the run continues without it, with a warning.
func ExampleOrElse() {
	var steps degrade.Fallbacks
	history := degrade.OrElse(context.Background(), &steps, degrade.HistoryFailed,
		func(context.Context) ([]string, error) { return nil, errors.New("the store is gone") },
		func() []string { return nil })
	fmt.Println(len(history), steps.Warnings())
	// Output: 0 [earlier context could not be selected; the answer was made without it]
}

// A text is better than nothing: an answer that never fits its schema is returned as text.
func ExamplePlainText() {
	type trip struct {
		City string `json:"city" validate:"required"`
	}
	model := looptest.NewModel(looptest.Say("Lisbon"), looptest.Say("Lisbon"), looptest.Say("Lisbon!"))
	l, _ := loop.New(model, loop.Config{}, loop.WithPlanner(degrade.PlainText{}))
	r, err := loop.Generate[trip](context.Background(), l, nil, loop.Input{Prompt: "Where?"})
	fmt.Println(r.Degraded, r.Text, r.Warnings, err)
	// Output: true Lisbon! [the answer could not be read as structured data; its text is used] <nil>
}
