package claude_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/retake-go/retake/adapter/kit/claude"
	"github.com/retake-go/retake/loop"
)

// The model gives a wrong answer, reads the feedback, and corrects it. A local server stands in for the
// API.
func ExampleNew() {
	answers := []string{`{\"city\": \"Lisbon\", \"nights\": \"two\"}`, `{\"city\": \"Lisbon\", \"nights\": 2}`}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "%s"}], "stop_reason": "end_turn"}`, answers[0])
		answers = answers[1:]
	}))
	defer api.Close()

	model, err := claude.New(nil, claude.Config{URL: api.URL, Key: "k", Model: "claude-sonnet-5-5", MaxTokens: 1024})
	if err != nil {
		fmt.Println(err)
		return
	}
	type Trip struct {
		City   string `json:"city" validate:"required"`
		Nights int    `json:"nights" validate:"min=1,max=30"`
	}
	l, _ := loop.New(model, loop.Config{})
	trip, err := loop.Generate[Trip](context.Background(), l, nil, loop.Input{Prompt: "Two nights in Lisbon, please."})
	fmt.Printf("%+v after %d turns %v\n", trip.Value, trip.Turns, err)
	// Output: {City:Lisbon Nights:2} after 2 turns <nil>
}
