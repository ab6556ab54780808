package planner_test

import (
	"context"
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/session"
)

// The tokens of a day are used up. The run continues with the next model and says so.
func ExampleLadder() {
	limited := &ratelimit.LimitedError{
		Err:   &fault.ProviderError{Class: fault.RateLimit, Provider: "cerebras"},
		State: ratelimit.Parse(map[string][]string{"X-Ratelimit-Remaining-Tokens-Day": {"0"}}, time.Now()),
	}
	s, _ := session.New(session.Config{ID: "order-42"})
	l, _ := loop.New(looptest.NewModel(looptest.Fail(limited)), loop.Config{Consult: []fault.Class{fault.RateLimit, fault.Quota}}, loop.WithPlanner(planner.Ladder{Models: []string{"backup"}}), loop.WithModels(map[string]loop.Model{"backup": looptest.NewModel(looptest.Say("Hello."))}))
	r, err := l.Run(context.Background(), s, loop.Input{Prompt: "Say hello."})
	fmt.Println(r.Text, r.Warnings, err)
	// Output: Hello. [went on with model backup: rate_limit, tokens_per_day used up] <nil>
}

// Your own planner: after the last attempt, the user's question is simplified once.
func ExamplePlannerFunc() {
	simpler := planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
		if q.Exhausted && q.Model == "" {
			return machine.Plan{Do: machine.Fallback, Model: "small", Prompt: "Answer with one word.", Warning: "asked more simply"}, nil
		}
		return machine.Plan{Do: machine.Abort}, nil
	})
	model := looptest.NewModel(looptest.Say(""), looptest.Say(""), looptest.Say(""))
	l, _ := loop.New(model, loop.Config{}, loop.WithPlanner(simpler), loop.WithModels(map[string]loop.Model{"small": looptest.NewModel(looptest.Say("Lisbon."))}))
	r, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Where?"})
	fmt.Println(r.Text, r.Warnings, err)
	// Output: Lisbon. [asked more simply] <nil>
}
