package loop_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// A server makes its loop once at start, which reports faults of the config. It runs the loop for each
// session.
func ExampleNew() {
	model := looptest.NewModel(looptest.Say("In Lisbon."), looptest.Say("In Porto."))
	l, err := loop.New(model, loop.Config{System: "Answer in a word."})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, user := range []string{"ann", "ben"} {
		s, _ := session.New(session.Config{ID: user})
		result, err := l.Run(context.Background(), s, loop.Input{Prompt: "Where?"})
		fmt.Println(user, result.Text, err)
	}
	// Output:
	// ann In Lisbon. <nil>
	// ben In Porto. <nil>
}

type room struct {
	City   string `json:"city"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

// The model calls a tool with wrong arguments, reads what was wrong, and calls it again.
func ExampleLoop_Run() {
	tools, _ := tool.NewSet(tool.New("book_room", "Books a room.", func(_ context.Context, r room) (string, error) {
		return fmt.Sprintf("booked %d nights in %s", r.Nights, r.City), nil
	}))
	model := looptest.NewModel(
		looptest.Call(message.Call{ID: "c1", Name: "book_room", Arguments: `{"city": "Lisbon", "nights": "two"}`}),
		looptest.Call(message.Call{ID: "c2", Name: "book_room", Arguments: `{"city": "Lisbon", "nights": 2}`}),
		looptest.Say("Your room in Lisbon is booked."),
	)
	s, _ := session.New(session.Config{ID: "order-42"})
	l, _ := loop.New(model, loop.Config{Tools: tools})
	result, err := l.Run(context.Background(), s, loop.Input{Prompt: "Two nights in Lisbon."})
	fmt.Println(result.Text, err)
	for _, a := range result.Attempts {
		fmt.Printf("%q attempt %d: %s %s\n", a.Action, a.Attempt, a.Class, string(a.Reason))
	}
	// Output:
	// Your room in Lisbon is booked. <nil>
	// "book_room" attempt 1: tool_validation immediate
	// "book_room" attempt 2:  accepted
	// "" attempt 1:  accepted
}

// The answer is a Go value. The model gets its schema, and is asked again until the answer fits.
func ExampleGenerate() {
	model := looptest.NewModel(looptest.Say(`{"city": "Lisbon", "nights": 90}`), looptest.Say(`{"city": "Lisbon", "nights": 9}`))
	s, _ := session.New(session.Config{})
	l, _ := loop.New(model, loop.Config{})
	answer, err := loop.Generate[room](context.Background(), l, s, loop.Input{Prompt: "Nine nights in Lisbon."})
	fmt.Println(answer.Value.City, answer.Value.Nights, err)
	// Output: Lisbon 9 <nil>
}

// Do makes one action under a policy. The result of each attempt decides whether there is another.
func ExampleDo() {
	city, err := loop.Do(context.Background(), nil, loop.ToolCall("find_city"), func(_ context.Context, a loop.Attempt) (string, error) {
		if a.Number == 1 {
			return "", &fault.ToolValidationError{Tool: "find_city", Issues: []fault.Issue{{Rule: "unknown", Expected: "a city"}}}
		}
		return "Lisbon", nil
	})
	fmt.Println(city, err)
	// Output: Lisbon <nil>
}

// Attempts is for programs with a loop of their own.
func ExampleAttempts() {
	replies := []string{"Lisbonne", "Lisbon"}
	attempts := loop.Attempts(context.Background(), nil, loop.FinalAnswer())
	for attempt := range attempts.All() {
		reply := replies[attempt.Number-1]
		fmt.Printf("attempt %d: %s, after %q\n", attempt.Number, reply, attempt.Feedback().Message)
		if reply != "Lisbon" {
			attempt.End(&fault.StructuredOutputError{Issues: []fault.Issue{{Rule: "enum", Expected: "Lisbon or Porto", Got: "string"}}})
			continue
		}
		attempt.End(nil)
	}
	fmt.Println(attempts.Err())
	// Output:
	// attempt 1: Lisbonne, after ""
	// attempt 2: Lisbon, after "(whole): expected Lisbon or Porto, got string"
	// <nil>
}

// A run that was left continues from its journal, also in another process.
func ExampleLoop_Resume() {
	ctx, leave := context.WithCancelCause(context.Background())
	store := &looptest.Store{}
	j, _ := journal.Open(ctx, store, "order-42", journal.Settings{})
	s, _ := session.New(session.Config{Journal: j})
	l, _ := loop.New(loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		leave(loop.ErrSuspended)
		return message.Reply{}, ctx.Err()
	}), loop.Config{})
	_, err := l.Run(ctx, s, loop.Input{Prompt: "Where?"})
	fmt.Println(err)
	_ = j.Close()

	ctx = context.Background()
	j, _ = journal.Open(ctx, store, "order-42", journal.Settings{})
	defer j.Close()
	s, _ = session.New(session.Config{Journal: j})
	l, _ = loop.New(looptest.NewModel(looptest.Say("In Lisbon.")), loop.Config{})
	result, err := l.Resume(ctx, s)
	fmt.Println(result.Text, err)
	// Output:
	// loop: the run was left to be resumed
	// In Lisbon. <nil>
}

// The error of a run that never gets an answer: the reason, every attempt, and the last failure.
func ExampleRetryExhaustedError() {
	model := looptest.NewModel(looptest.Say("two"), looptest.Say("2"), looptest.Say("two nights"))
	l, _ := loop.New(model, loop.Config{})
	_, err := loop.Generate[room](context.Background(), l, nil, loop.Input{Prompt: "Nights?"})
	var exhausted *loop.RetryExhaustedError
	var invalid *fault.StructuredOutputError
	fmt.Println(errors.Is(err, policy.ReasonAttemptsExhausted), errors.As(err, &invalid), errors.As(err, &exhausted))
	for _, a := range exhausted.Attempts {
		fmt.Println(looptest.AttemptText(a), a.Issues)
	}
	// Output:
	// true true true
	// attempt 1 of 3: structured_output, again (immediate) [(whole): expected an object with the members city, nights]
	// attempt 2 of 3: structured_output, again (immediate) [(whole): expected object (members: city, nights), got integer]
	// attempt 3 of 3: structured_output, no more (attempts_exhausted) [(whole): expected an object with the members city, nights]
}

// A policy for this run only: a big model and a temperature of 0 for the second attempt.
func ExampleWithModels() {
	set := policy.DefaultSet()
	set.Answer.PerAttempt = []policy.Settings{{}, {Model: "big", Temperature: new(0.0)}}
	l, _ := loop.New(looptest.NewModel(looptest.Say("")), loop.Config{Policy: &set}, loop.WithModels(map[string]loop.Model{"big": looptest.NewModel(looptest.Say("In Lisbon."))}))
	result, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Where?"})
	fmt.Println(result.Text, err)
	// Output: In Lisbon. <nil>
}

// A reply is shown while it arrives. Reset takes it back if another one replaces it.
func ExampleWithStream() {
	model := looptest.NewModel(looptest.Say("nine"), looptest.Say(`{"city": "Lisbon", "nights": 9}`))
	show := func(d loop.Delta) {
		if d.Reset {
			fmt.Println("take it back")
			return
		}
		fmt.Println("show:", d.Text)
	}
	l, _ := loop.New(model, loop.Config{}, loop.WithStream(show))
	_, err := loop.Generate[room](context.Background(), l, nil, loop.Input{Prompt: "Nights?"})
	fmt.Println(err)
	// Output:
	// show: nine
	// take it back
	// show: {"city": "Lisbon", "nights": 9}
	// <nil>
}

// The templates of a config read its vars.
func ExampleConfig_vars() {
	cfg := loop.Config{
		System: "You book rooms in {{.Vars.city}}.{{with feedback}}\n\n{{.}}{{end}}",
		Vars:   map[string]any{"city": "Lisbon"},
	}
	model := looptest.NewModel(looptest.Say("Gladly."))
	l, _ := loop.New(model, cfg)
	_, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Two nights, please."})
	fmt.Println(model.Requests()[0].System, err)
	cfg.Vars = nil
	fmt.Println(cfg.Validate())
	// Output:
	// You book rooms in Lisbon. <nil>
	// system: prompt template, line 1: there is no .Vars.city: no vars are set
}
