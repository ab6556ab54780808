package agent_test

import (
	"context"
	"fmt"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/tool"
)

// An agent is unsure twice. Every run costs tokens, and the envelope has the sum.
func ExampleRetry() {
	breed := agent.New("breed")
	breed.MinConfidence = 0.8

	r := agent.Retry(context.Background(), nil, breed, func(_ context.Context, a loop.Attempt) result.Result[string] {
		r := result.Success("Maine Coon")
		r.Confidence = new([]float64{0.5, 0.65, 0.9}[a.Number-1])
		r.Execution.Cost.Total = 0.004
		return r
	})
	fmt.Println(r.Data, *r.Confidence, *r.Execution.RetryCount, r.Execution.Cost.Amount())
	// Output: Maine Coon 0.9 2 0.012
}

// The envelope of a run: the answer, the number of retries, and the cost of all attempts.
func ExampleRun() {
	model := looptest.NewModel(
		looptest.Turn{Reply: message.Reply{Text: "", Usage: message.Usage{InputTokens: 10, OutputTokens: 1}}},
		looptest.Turn{Reply: message.Reply{Text: "In Lisbon.", Usage: message.Usage{InputTokens: 30, OutputTokens: 4}}})
	r := agent.Run(context.Background(), model, nil, loop.Input{Prompt: "Where?"}, loop.Config{}, agent.Account{})
	fmt.Println(string(r.Data), *r.Execution.RetryCount, r.Execution.Usage.Tokens())
	// Output: "In Lisbon." 1 45
}

// An error in an envelope is data: a code, and a sentence for people.
func ExampleEnvelope() {
	model := looptest.NewModel(looptest.Say(""), looptest.Say(""), looptest.Say(""))
	l, _ := loop.New(model, loop.Config{})
	r := agent.Envelope(l.Run(context.Background(), nil, loop.Input{Prompt: "Where?"}))
	fmt.Println(r.Error.Class, "-", r.UserMessage())
	// Output: no_output - The assistant gave no answer. Try again.
}

// An agent is a tool of another one. Its run has a session of its own, and its usage is part of the outer
// run's.
func ExampleAsTool() {
	research, err := agent.AsTool("research", "Finds out about a topic.", looptest.NewModel(looptest.Say("Lisbon has 58 trams.")), loop.Config{})
	if err != nil {
		panic(err)
	}
	tools, err := tool.NewSet(research)
	if err != nil {
		panic(err)
	}
	model := looptest.NewModel(
		looptest.Call(message.Call{ID: "c1", Name: "research", Arguments: `{"task": "How many trams has Lisbon?"}`}),
		looptest.Say("There are 58."))
	l, err := loop.New(model, loop.Config{Tools: tools})
	if err != nil {
		panic(err)
	}
	r, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Count the trams."})
	fmt.Println(r.Transcript[2].Text)
	fmt.Println(r.Text, err)
	// Output:
	// Lisbon has 58 trams.
	// There are 58. <nil>
}
