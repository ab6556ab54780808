package ollama_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/retake-go/retake/adapter/ollama"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

type booking struct {
	City   string `json:"city" validate:"required"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

func book(_ context.Context, b booking) (string, error) { return "R-" + b.City, nil }

// A local server stands in for Ollama. Leave URL empty to use the real one on this machine.
func Example() {
	replies := []string{
		`{"message":{"tool_calls":[{"function":{"name":"book_room","arguments":{"city":"Lisbon","nights":"two"}}}]},"done":true,"done_reason":"stop"}`,
		`{"message":{"tool_calls":[{"function":{"name":"book_room","arguments":{"city":"Lisbon","nights":2}}}]},"done":true,"done_reason":"stop"}`,
		`{"message":{"content":"Booked: R-Lisbon."},"done":true,"done_reason":"stop"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, replies[0])
		replies = replies[1:]
	}))
	defer server.Close()

	model, err := ollama.New(nil, ollama.Config{Model: "qwen3", URL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	tools, _ := tool.NewSet(tool.New("book_room", "Book a hotel room.", book))
	s, _ := session.New(session.Config{ID: "order-42"})
	l, _ := loop.New(model, loop.Config{Tools: tools})
	result, err := l.Run(context.Background(), s, loop.Input{Prompt: "Two nights in Lisbon, please."})
	fmt.Println(result.Text, err)
	for _, a := range result.Attempts {
		fmt.Printf("%q attempt %d: %q\n", a.Action, a.Attempt, a.Class)
	}
	// Output:
	// Booked: R-Lisbon. <nil>
	// "book_room" attempt 1: "tool_validation"
	// "book_room" attempt 2: ""
	// "" attempt 1: ""
}
