// Command genkit is a flow of Genkit whose inner loop is retake's: models, tools and the flow stay Genkit's,
// and a bad call or answer is corrected. The model is scripted.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core"
	"github.com/firebase/genkit/go/genkit"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/tool"
)

// Trip is the answer.
type Trip struct {
	City string `json:"city" validate:"required"`
	Stay struct {
		Nights int `json:"nights" validate:"min=1,max=30"`
	} `json:"stay"`
}

type booking struct {
	City   string `json:"city" jsonschema:"minLength=1"`
	Nights int    `json:"nights" jsonschema:"minimum=1,maximum=30"`
}

// tripFlow is a flow as others call it.
func tripFlow(g *genkit.Genkit, model ai.Model, opts ...loop.Option) (*core.Flow[string, Trip, struct{}], error) {
	book, err := toolOf(genkit.DefineTool(g, "book_room", "Books a room.", func(_ *ai.ToolContext, b booking) (string, error) {
		return fmt.Sprintf("%d nights in %s", b.Nights, b.City), nil
	}))
	if err != nil {
		return nil, err
	}
	tools, err := tool.NewSet(book)
	if err != nil {
		return nil, err
	}
	l, err := loop.New(modelOf{model}, loop.Config{Tools: tools, System: "You book rooms."}, opts...)
	if err != nil {
		return nil, err
	}
	return genkit.DefineFlow(g, "trip", func(ctx context.Context, wish string) (Trip, error) {
		trip, err := loop.Generate[Trip](ctx, l, nil, loop.Input{Prompt: wish})
		for _, a := range trip.Attempts {
			fmt.Println(a.Action, a.Attempt, a.Class, a.Reason)
		}
		return trip.Value, err
	}), nil
}

// scripted calls the tool with a word for a number, then rightly, and answers wrongly, then rightly.
func scripted() ai.ModelFunc {
	replies := []*ai.Part{
		ai.NewToolRequestPart(&ai.ToolRequest{Ref: "c1", Name: "book_room", Input: map[string]any{"city": "Lisbon", "nights": "two"}}),
		ai.NewToolRequestPart(&ai.ToolRequest{Ref: "c2", Name: "book_room", Input: map[string]any{"city": "Lisbon", "nights": 2}}),
		ai.NewTextPart("Two nights in Lisbon."),
		ai.NewTextPart(`{"city": "Lisbon", "stay": {"nights": 2}}`),
	}
	return func(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		next := replies[0]
		replies = replies[1:]
		return &ai.ModelResponse{Request: req, FinishReason: ai.FinishReasonStop, Message: ai.NewModelMessage(next)}, nil
	}
}

func main() {
	ctx := context.Background()
	g := genkit.Init(ctx)
	model := genkit.DefineModel(g, "example/scripted", &ai.ModelOptions{Supports: &ai.ModelSupports{
		Multiturn: true, Tools: true, ToolChoice: true, SystemRole: true, Constrained: ai.ConstrainedSupportAll,
	}}, scripted())
	flow, err := tripFlow(g, model)
	if err != nil {
		log.Fatal(err)
	}
	trip, err := flow.Run(ctx, "Two nights in Lisbon, please.")
	fmt.Printf("%+v %v\n", trip, err)
}
