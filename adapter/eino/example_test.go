package eino_test

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"

	"github.com/retake-go/retake/adapter/eino"
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
