package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

type Booking struct {
	City   string `json:"city"   validate:"required" jsonschema:"description=Where to stay"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
	Room   string `json:"room"   validate:"oneof=single double"`
}

type Receipt struct {
	Number string `json:"number"`
}

var bookRoom = tool.New("book_room", "Book a hotel room.", func(ctx context.Context, b Booking) (Receipt, error) {
	if b.City == "Atlantis" {
		return Receipt{}, tool.AskAgain(fault.Issue{Pointer: "/city", Rule: "served", Expected: "a city we serve"})
	}
	if b.Nights > 20 {
		return Receipt{}, tool.Fail("the hotel is full")
	}
	if err := tool.Emit(ctx, "booked", b); err != nil {
		return Receipt{}, err
	}
	return Receipt{Number: "R-1"}, nil
})

func ExampleNew() {
	out := bookRoom.Invoke(context.Background(), []byte(`{"city": "Lisbon", "nights": 2, "room": "double"}`))
	fmt.Println(string(out.Result), out.Events[0].Name)
	// Output:
	// {"number":"R-1"} booked
}

func ExampleAskAgain() {
	out := bookRoom.Invoke(context.Background(), []byte(`{"city": "Atlantis", "nights": 2, "room": "double"}`))
	fmt.Println(out.Issues)
	// Output:
	// [city: expected a city we serve]
}

func ExampleFail() {
	out := bookRoom.Invoke(context.Background(), []byte(`{"city": "Lisbon", "nights": 30, "room": "double"}`))
	fmt.Println(out.Failed)
	// Output:
	// the hotel is full
}

func ExampleRaw() {
	parameters := []byte(`{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}`)
	double, err := tool.Raw("double", "Double a number.", parameters, func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
		return args, nil
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(double.Check([]byte(`{"n": "two"}`)))
	// Output:
	// [n: expected integer, got string]
}

func ExampleSet_Read() {
	set, err := tool.NewSet(bookRoom)
	if err != nil {
		panic(err)
	}
	reply := message.Reply{Calls: []message.Call{
		{ID: "a", Name: "book_room", Arguments: `{"city": "Lisbon", "nights": "two"}`},
		{ID: "b", Name: "cancel_room", Arguments: `{}`},
	}}
	for _, c := range set.Read(reply, tool.Settings{Text: policy.RepairsNote}).Calls {
		fmt.Println(c.ID, c.Class, c.Issues)
	}
	// Output:
	// a tool_validation [nights: expected integer (at least 1, at most 30), got string room: required, expected one of "single", "double"]
	// b unknown_tool [(whole): expected one of book_room]
}

func ExampleReadAnswer() {
	bookings, err := schema.For[Booking]()
	if err != nil {
		panic(err)
	}
	text := "Here you are:\n```json\n{\"city\": \"Lisbon\", \"nights\": 2, \"room\": \"double\"}\n```"
	fmt.Println(string(tool.ReadAnswer(text, bookings.Schema(), tool.Settings{Text: policy.RepairsNote}).Raw))
	// Output:
	// {"city":"Lisbon","nights":2,"room":"double"}
}

func ExampleProgress() {
	slow := tool.New("slow", "Take your time.", func(ctx context.Context, _ struct{}) (string, error) {
		return "done with " + tool.IdempotencyKey(ctx), tool.Progress(ctx, map[string]int{"percent": 50})
	})
	inv := tool.Invocation{Key: "k1", Report: func(p []byte) { fmt.Println(string(p)) }}
	out := slow.Invoke(tool.WithInvocation(context.Background(), inv), []byte(`{}`))
	fmt.Println(string(out.Result))
	// Output:
	// {"percent":50}
	// "done with k1"
}

// A tool could not reach its server and did nothing. It asks to be run again later. The model is not told.
func ExampleTryLater() {
	tries := 0
	search := tool.New("search", "Searches rooms.", func(context.Context, struct{}) (string, error) {
		if tries++; tries == 1 {
			return "", tool.TryLater(nil, time.Second)
		}
		return "room 7", nil
	})
	tools, _ := tool.NewSet(search)
	model := looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "search", Arguments: `{}`}), looptest.Say("Room 7."))
	l, _ := loop.New(model, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
	result, err := l.Run(context.Background(), nil, loop.Input{Prompt: "A room."})
	fmt.Println(result.Text, err, tries)
	// Output: Room 7. <nil> 2
}

// A payment carries its key to the bank, which refuses to pay twice under one key.
func ExampleIdempotencyKey() {
	var keys []string
	pay := tool.New("pay", "Pays.", func(ctx context.Context, _ struct{}) (string, error) {
		keys = append(keys, tool.IdempotencyKey(ctx))
		if len(keys) == 1 {
			return "", &fault.ProviderError{Class: fault.Network}
		}
		return "paid", nil
	}, tool.Idempotent())
	tools, _ := tool.NewSet(pay)
	model := looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{}`}), looptest.Say("Paid."))
	l, _ := loop.New(model, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
	_, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Pay."})
	fmt.Println(len(keys), keys[0] == keys[1], err)
	// Output: 2 true <nil>
}

// A tool brings its own policy. A policy file may still say otherwise.
func ExampleWithPolicy() {
	pay := tool.New("pay", "Pays.", func(context.Context, Booking) (string, error) { return "paid", nil },
		tool.WithPolicy(policy.Layer{MaxAttempts: new(1)}))
	tools, _ := tool.NewSet(pay)
	model := looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{}`}))
	l, _ := loop.New(model, loop.Config{Tools: tools})
	_, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Pay."})
	fmt.Println(err)
	// Output: pay: attempt 1 of 1 on the correction plane: attempts used up: arguments of tool "pay": city: required, expected string (at least 1 character); nights: required, expected integer (at least 1, at most 30); room: required, expected one of "single", "double"
}
