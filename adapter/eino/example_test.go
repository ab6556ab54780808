package eino_test

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"

	"github.com/retake-go/retake/adapter/eino"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/session"
)

// The model makes a wrong call and corrects it.
func Example() {
	ctx := context.Background()
	book, _ := utils.InferTool("book_room", "Book a hotel room.", func(_ context.Context, b booking) (receipt, error) {
		return receipt{b.City}, nil
	})
	model := newFake( // your model goes here
		calls(toolCall("c1", "book_room", `{"city":"Lisbon","nights":"two"}`)),
		calls(toolCall("c2", "book_room", `{"city":"Lisbon","nights":2}`)), say("Booked."))
	conf := &adk.ChatModelAgentConfig{
		Name: "traveller", Description: "Books rooms.", Model: model,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{book}}},
	}

	retake, _ := eino.New(eino.Config{})
	_ = retake.Agent(conf)
	agent, _ := adk.NewChatModelAgent(ctx, conf)

	s, _ := session.New(session.Config{ID: "order-42"})
	ctx, run, _ := retake.Start(ctx, s)
	_ = drain(adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Two nights in Lisbon, please."))
	result, err := run.End()

	fmt.Println(last(model.requests()[1]).Content)
	for _, a := range result.Attempts {
		fmt.Printf("%q attempt %d of %d: %s %s\n", a.Action, a.Attempt, a.MaxAttempts, a.Class, string(a.Reason))
	}
	fmt.Println(result.Text, err)
	// Output:
	// Automatic check, not a message from the user: the arguments of your call of book_room are not valid, and the tool was not run (attempt 1 of 3).
	// - nights: expected integer, got string
	// Call book_room again with all arguments corrected.
	// "book_room" attempt 1 of 3: tool_validation immediate
	// "book_room" attempt 2 of 3:  accepted
	// "" attempt 1 of 3:  accepted
	// Booked. <nil>
}

// One agent is a tool of another. The adapter is the same; the inner agent has a run of its own.
func Example_twoAgents() {
	ctx := context.Background()
	retake, _ := eino.New(eino.Config{}, eino.WithEnd(func(_ *session.Session, r loop.Result, err error) {
		fmt.Println("inner:", len(r.Attempts), "attempts,", r.Text, err)
	}))
	book, _ := utils.InferTool("book_room", "Book a hotel room.", func(_ context.Context, b booking) (receipt, error) {
		return receipt{b.City}, nil
	})
	inner := newFake( // your models go here
		calls(toolCall("c1", "book_room", `{"city":"Lisbon","nights":"two"}`)),
		calls(toolCall("c2", "book_room", `{"city":"Lisbon","nights":2}`)), say("Booked."))
	outer := newFake(calls(toolCall("c1", "booker", `{"request":"Two nights in Lisbon."}`)), say("Your room is booked."))

	agent := func(name string, model model.ToolCallingChatModel, tools ...tool.BaseTool) adk.Agent {
		conf := &adk.ChatModelAgentConfig{
			Name: name, Description: "Books rooms.", Model: model,
			ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}},
		}
		_ = retake.Agent(conf)
		a, _ := adk.NewChatModelAgent(ctx, conf)
		return a
	}
	booker := agent("booker", inner, book)
	traveller := agent("traveller", outer, adk.NewAgentTool(ctx, booker))

	ctx, run, _ := retake.Start(ctx, nil)
	_ = drain(adk.NewRunner(ctx, adk.RunnerConfig{Agent: traveller}).Query(ctx, "Two nights in Lisbon, please."))
	result, err := run.End()
	fmt.Println("outer:", len(result.Attempts), "attempts,", result.Text, err)
	// Output:
	// inner: 3 attempts, Booked. <nil>
	// outer: 2 attempts, Your room is booked. <nil>
}
