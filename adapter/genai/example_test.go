package genai_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/genai"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

type booking struct {
	City   string `json:"city" validate:"required"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

func book(_ context.Context, b booking) (string, error) { return "R-" + b.City, nil }

// A local server stands in for Google's. Leave HTTPOptions out to use the real one.
func Example() {
	replies := []string{
		`{"functionCall":{"name":"book_room","args":{"city":"Lisbon","nights":"two"}}}`,
		`{"functionCall":{"name":"book_room","args":{"city":"Lisbon","nights":2}}}`,
		`{"text":"Booked: R-Lisbon."}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"candidates":[{"content":{"parts":[%s]},"finishReason":"STOP"}]}`, replies[0])
		replies = replies[1:]
	}))
	defer server.Close()

	ctx := context.Background()
	client, err := sdk.NewClient(ctx, &sdk.ClientConfig{APIKey: "key", Backend: sdk.BackendGeminiAPI, HTTPOptions: sdk.HTTPOptions{BaseURL: server.URL}})
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := genai.New(client, genai.Config{Model: "gemini-3-pro"})
	if err != nil {
		fmt.Println(err)
		return
	}
	tools, _ := tool.NewSet(tool.New("book_room", "Book a hotel room.", book))
	s, _ := session.New(session.Config{ID: "order-42"})
	l, _ := loop.New(model, loop.Config{Tools: tools})
	result, err := l.Run(ctx, s, loop.Input{Prompt: "Two nights in Lisbon, please."})
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
