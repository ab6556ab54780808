package adk_test

import (
	"context"
	"fmt"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	adksession "google.golang.org/adk/v2/session"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"

	"github.com/retake-go/retake/adapter/adk"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
)

// The model makes a wrong call and corrects it.
func Example() {
	book, _ := functiontool.New(functiontool.Config{Name: "book_room", Description: "Book a hotel room."},
		func(_ agent.Context, b booking) (receipt, error) { return receipt{b.City}, nil })
	model := newFake( // your model goes here
		calls(call("book_room", map[string]any{"city": "Lisbon", "nights": "two"})),
		calls(call("book_room", map[string]any{"city": "Lisbon", "nights": 2})), say("Booked."))

	retake, _ := adk.New(adk.Config{}, adk.WithEnd(func(_ adk.Invocation, _ *session.Session, r loop.Result, err error) {
		for _, a := range r.Attempts {
			fmt.Printf("%q attempt %d of %d: %s %s\n", a.Action, a.Attempt, a.MaxAttempts, a.Class, string(a.Reason))
		}
		fmt.Println(r.Text, err)
	}))
	traveller, _ := llmagent.New(llmagent.Config{Name: "traveller", Model: retake.Model(model), Tools: []adktool.Tool{book}})
	p, _ := retake.Plugin()
	r, _ := runner.New(runner.Config{
		AppName: "trips", Agent: traveller, SessionService: adksession.InMemoryService(), AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{p}},
	})
	_, _ = play(context.Background(), r, agent.StreamingModeNone)

	fmt.Println(answers(model.requests()[1])[0].Response["error"])
	// Output:
	// "book_room" attempt 1 of 3: tool_validation immediate
	// "book_room" attempt 2 of 3:  accepted
	// "" attempt 1 of 3:  accepted
	// Booked. <nil>
	// Automatic check, not a message from the user: the arguments of your call of book_room are not valid, and the tool was not run (attempt 1 of 3).
	// - nights: expected integer, got string
	// Call book_room again with all arguments corrected.
}

// One agent is a tool of another. Each has a run of its own, under one adapter.
func Example_twoAgents() {
	book, _ := functiontool.New(functiontool.Config{Name: "book_room", Description: "Book a hotel room."},
		func(_ agent.Context, b booking) (receipt, error) { return receipt{b.City}, nil })
	inner := newFake( // your models go here
		calls(call("book_room", map[string]any{"city": "Lisbon", "nights": "two"})),
		calls(call("book_room", map[string]any{"city": "Lisbon", "nights": 2})), say("Booked."))
	outer := newFake(calls(call("booker", map[string]any{"request": "Two nights in Lisbon."})), say("Your room is booked."))

	retake, _ := adk.New(adk.Config{}, adk.WithEnd(func(at adk.Invocation, _ *session.Session, r loop.Result, err error) {
		fmt.Println(at.AppName+":", len(r.Attempts), "attempts,", r.Text, err)
	}))
	booker, _ := llmagent.New(llmagent.Config{
		Name: "booker", Description: "Books rooms.", Model: retake.Model(inner), Tools: []adktool.Tool{book},
	})
	delegate, _ := retake.AgentTool(booker, nil)
	traveller, _ := llmagent.New(llmagent.Config{Name: "traveller", Model: retake.Model(outer), Tools: []adktool.Tool{delegate}})
	p, _ := retake.Plugin()
	r, _ := runner.New(runner.Config{
		AppName: "trips", Agent: traveller, SessionService: adksession.InMemoryService(), AutoCreateSession: true,
		PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{p}},
	})
	_, _ = play(context.Background(), r, agent.StreamingModeNone)
	// Output:
	// booker: 3 attempts, Booked. <nil>
	// trips: 2 attempts, Your room is booked. <nil>
}
