package anthropicv2_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/retake-go/retake/adapter/anthropicv2"
	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
)

// The model gives a wrong answer, reads the feedback, and corrects it. A local server stands in for the
// API.
func Example() {
	answers := []string{`{\"city\": \"Lisbon\", \"nights\": \"two\"}`, `{\"city\": \"Lisbon\", \"nights\": 2}`}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "%s"}],
			"stop_reason": "end_turn", "usage": {"input_tokens": 20, "output_tokens": 10}}`, answers[0])
		answers = answers[1:]
	}))
	defer api.Close()

	client := sdk.NewClient(option.WithAPIKey("key"), option.WithBaseURL(api.URL)) // yours needs neither: it reads ANTHROPIC_API_KEY
	model, err := anthropicv2.New(client, claude.Config{Model: "claude-sonnet-5-5", MaxTokens: 1024})
	if err != nil {
		fmt.Println(err)
		return
	}
	type Trip struct {
		City   string `json:"city" validate:"required"`
		Nights int    `json:"nights" validate:"min=1,max=30"`
	}
	s, err := session.New(session.Config{ID: "order-42"})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, _ := loop.New(model, loop.Config{})
	trip, err := loop.Generate[Trip](context.Background(), l, s, loop.Input{Prompt: "Two nights in Lisbon, please."})
	fmt.Printf("%+v %v\n", trip.Value, err)
	fmt.Println(trip.Usage.APICalls, "calls,", trip.Usage.InputTokens, "tokens in")
	// Output:
	// {City:Lisbon Nights:2} <nil>
	// 2 calls, 40 tokens in
}
