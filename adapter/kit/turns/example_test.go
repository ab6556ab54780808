package turns_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// A runtime calls the model and runs the tools itself. The first call has wrong arguments; the second one
// runs.
func Example() {
	ctx := context.Background()
	s, err := session.New(session.Config{ID: "order-42"})
	if err != nil {
		panic(err)
	}
	run, err := turns.New(s, turns.Config{Clock: looptest.NewClock()})
	if err != nil {
		panic(err)
	}
	var shelf turns.Shelf
	tools, err := shelf.Set([]turns.Offered{{
		Name: "book_room", Parameters: `{"type": "object", "properties": {"nights": {"type": "integer"}}, "required": ["nights"]}`,
	}})
	if err != nil {
		panic(err)
	}
	said := []message.Message{{Role: message.User, Text: "Two nights in Lisbon, please."}}
	replies := []message.Reply{
		{Calls: []message.Call{{ID: "c1", Name: "book_room", Arguments: `{"nights": "two"}`}}},
		{Calls: []message.Call{{ID: "c2", Name: "book_room", Arguments: `{"nights": 2}`}}},
		{Text: "Booked."},
	}
	for _, reply := range replies {
		if err := run.Next(ctx, tools, func() []message.Message { return said }); err != nil {
			panic(err)
		}
		if _, err := run.Reply(ctx, reply); err != nil {
			panic(err)
		}
		for _, c := range reply.Calls {
			call, _ := run.Claim(c.ID, c.Name, c.Arguments)
			if told, refused, _ := call.Refused(); refused {
				fmt.Println(told)
				continue
			}
			out := call.Invoke(ctx, func(_ context.Context, arguments json.RawMessage) (json.RawMessage, error) {
				fmt.Printf("the runtime runs %s with %s\n", c.Name, arguments)
				return json.RawMessage(`{"number": "R-1"}`), nil
			})
			if answer, err := call.End(ctx, out); err != nil || !answer.Own {
				panic(fmt.Sprint(answer, err))
			}
		}
	}
	result, err := run.End()
	fmt.Println(result.Text, err)
	// Output:
	// Automatic check, not a message from the user: the arguments of your call of book_room are not valid, and the tool was not run (attempt 1 of 3).
	// - nights: expected integer, got string
	// Call book_room again with all arguments corrected.
	// the runtime runs book_room with {"nights":2}
	// Booked. <nil>
}
