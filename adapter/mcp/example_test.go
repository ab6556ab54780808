package mcp_test

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Trip is the argument of the example's tool. The model gets all its rules.
type Trip struct {
	City   string `json:"city"   validate:"required"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

func connect(server *sdk.Server, opts *sdk.ClientOptions) (*sdk.ClientSession, error) {
	here, there := sdk.NewInMemoryTransports()
	if _, err := server.Connect(context.Background(), there, nil); err != nil {
		return nil, err
	}
	return sdk.NewClient(self, opts).Connect(context.Background(), here, nil)
}

// A retake tool is served over MCP. A model calls it through a client, with wrong arguments first. Both
// ends use the SDK's in-memory transport; stdio and HTTP work the same.
func Example() {
	book := tool.New("book", "Book a hotel room.", func(_ context.Context, t Trip) (map[string]string, error) {
		return map[string]string{"number": fmt.Sprintf("R-%s-%d", strings.ToLower(t.City), t.Nights)}, nil
	})
	set, _ := tool.NewSet(book)
	server := sdk.NewServer(&sdk.Implementation{Name: "trips", Version: "v1"}, nil)
	if err := mcp.Serve(server, set); err != nil {
		fmt.Println(err)
		return
	}

	var watch mcp.Watch
	remote, err := connect(server, watch.Options(nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = remote.Close() }()
	cfg := mcp.DefaultConfig()
	cfg.Prefix = "trips."
	listed, err := mcp.Tools(context.Background(), remote, cfg, mcp.WithWatch(&watch))
	if err != nil {
		fmt.Println(err)
		return
	}
	tools, _ := tool.NewSet(listed...)
	model := looptest.NewModel( // your model goes here
		looptest.Call(message.Call{ID: "c1", Name: "trips.book", Arguments: `{"city": "Lisbon", "nights": "two"}`}),
		looptest.Call(message.Call{ID: "c2", Name: "trips.book", Arguments: `{"city": "Lisbon", "nights": 2}`}),
		looptest.Say("Your room is booked: R-lisbon-2."),
	)
	s, _ := session.New(session.Config{ID: "order-42"})
	l, _ := loop.New(model, loop.Config{Tools: tools})
	result, err := l.Run(context.Background(), s, loop.Input{Prompt: "Two nights in Lisbon, please."})
	for _, m := range result.Transcript {
		if m.Role == message.Tool {
			fmt.Println(m.Text)
		}
	}
	fmt.Println(result.Text, err)
	// Output:
	// Automatic check, not a message from the user: the arguments of your call of trips.book are not valid, and the tool was not run (attempt 1 of 3).
	// - nights: expected integer (at least 1, at most 30), got string
	// Call trips.book again with all arguments corrected.
	// {"number":"R-lisbon-2"}
	// Your room is booked: R-lisbon-2. <nil>
}

// A client without retake gets this for wrong arguments.
func ExampleServe() {
	book := tool.New("book", "Book a hotel room.", func(_ context.Context, t Trip) (string, error) { return "booked", nil })
	set, _ := tool.NewSet(book)
	server := sdk.NewServer(&sdk.Implementation{Name: "trips", Version: "v1"}, nil)
	if err := mcp.Serve(server, set); err != nil {
		fmt.Println(err)
		return
	}
	client, err := connect(server, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close() }()
	result, err := client.CallTool(context.Background(), &sdk.CallToolParams{Name: "book", Arguments: map[string]any{"nights": 31}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.IsError)
	fmt.Println(result.Content[0].(*sdk.TextContent).Text)
	// Output:
	// true
	// Automatic check, not a message from the user: the arguments of your call of book are not valid, and the tool was not run.
	// - city: required, expected string (at least 1 character)
	// - nights: expected at most 30, got 31
	// Call book again with all arguments corrected.
}

// The list of tools changed, so it is read again before the next run.
func ExampleWatch() {
	server := named("book")
	changed := make(chan struct{})
	var watch mcp.Watch
	remote, err := connect(server, watch.Options(&sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { close(changed) },
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = remote.Close() }()
	tools, err := mcp.Tools(context.Background(), remote, mcp.DefaultConfig(), mcp.WithWatch(&watch))
	fmt.Println(namesOf(tools), err)

	server.AddTool(&sdk.Tool{Name: "cancel", InputSchema: map[string]any{"type": "object"}}, always(text("cancelled"), nil))
	<-changed
	if watch.Changed(remote) { // between two runs
		tools, err = mcp.Tools(context.Background(), remote, mcp.DefaultConfig(), mcp.WithWatch(&watch))
	}
	fmt.Println(namesOf(tools), err)
	// Output:
	// [book] <nil>
	// [book cancel] <nil>
}
