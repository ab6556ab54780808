package chat_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/loop"
)

// A model gives a wrong answer and corrects it.
func ExampleNew() {
	answers := []string{
		`{"choices":[{"message":{"content":"{\"city\":\"Lisbon\",\"nights\":\"two\"}"},"finish_reason":"stop"}]}`,
		`{"choices":[{"message":{"content":"{\"city\":\"Lisbon\",\"nights\":2}"},"finish_reason":"stop"}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answers[0])
		answers = answers[1:]
	}))
	defer server.Close()

	model, err := chat.New(nil, chat.Config{URL: server.URL + "/v1", Key: "k", Model: "gpt-4.1", MaxTokens: 500})
	if err != nil {
		fmt.Println(err)
		return
	}
	type trip struct {
		City   string `json:"city" validate:"required"`
		Nights int    `json:"nights" validate:"min=1,max=30"`
	}
	l, _ := loop.New(model, loop.Config{})
	answer, err := loop.Generate[trip](context.Background(), l, nil, loop.Input{Prompt: "Two nights in Lisbon, please."})
	fmt.Printf("%+v after %d turns %v\n", answer.Value, answer.Turns, err)
	// Output: {City:Lisbon Nights:2} after 2 turns <nil>
}

// The provider's name selects how its errors and rate limits are read.
func ExampleConfig() {
	cfg := chat.Config{Model: "moonshotai/kimi-k2", Provider: "groq", Output: "xml", Temperature: new(3.0)}
	fmt.Println(cfg.Validate())
	// Output:
	// Temperature: must be from 0 to 2, or nil
	// Output: "xml" is none of empty, "json_object", "instructions"
}
