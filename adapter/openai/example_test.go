package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/openai"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
)

// replay is a server that answers with the bodies in order.
func replay(bodies ...string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, bodies[0])
		bodies = bodies[1:]
	}))
}

// A model on Chat Completions gives a wrong answer and corrects it.
func ExampleNew() {
	server := replay(
		`{"choices":[{"message":{"content":"{\"city\":\"Lisbon\",\"nights\":\"two\"}"},"finish_reason":"stop"}]}`,
		`{"choices":[{"message":{"content":"{\"city\":\"Lisbon\",\"nights\":2}"},"finish_reason":"stop"}]}`)
	defer server.Close()

	client := sdk.NewClient(option.WithBaseURL(server.URL+"/v1/"), option.WithAPIKey("…"))
	model, err := openai.New(client, chat.Config{Model: "gpt-4.1", MaxTokens: 500})
	if err != nil {
		fmt.Println(err)
		return
	}
	type trip struct {
		City   string `json:"city" validate:"required"`
		Nights int    `json:"nights" validate:"min=1,max=30"`
	}
	s, _ := session.New(session.Config{ID: "order-42"})
	l, _ := loop.New(model, loop.Config{})
	answer, err := loop.Generate[trip](context.Background(), l, s, loop.Input{Prompt: "Two nights in Lisbon, please."})
	fmt.Printf("%+v after %d turns %v\n", answer.Value, answer.Turns, err)
	// Output: {City:Lisbon Nights:2} after 2 turns <nil>
}

// The same over the Responses API. The error has its class, and says whether waiting helps.
func ExampleNew_responses() {
	server := replay(`{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Please try again in 7s."}}`)
	defer server.Close()

	client := sdk.NewClient(option.WithBaseURL(server.URL+"/v1/"), option.WithAPIKey("…"))
	model, err := openai.New(client, chat.Config{API: chat.Responses, Model: "gpt-5", Effort: "low"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = model.Reply(context.Background(), loop.Request{System: "Be brief."})
	fmt.Println(err)
	if e, ok := errors.AsType[*kit.Error](err); ok {
		fmt.Println(e.Failure().Plane == fault.Transport, e.Failure().RetryAfter)
	}
	// Output:
	// openai: 200 rate_limit_exceeded: Please try again in 7s.
	// true 7s
}
