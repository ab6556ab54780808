package temporal_test

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/retake-go/retake/adapter/temporal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

type booking struct {
	City   string `json:"city" validate:"required"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

func book(_ context.Context, b booking) (string, error) { return "R-" + b.City, nil }

// A worker, and a program that starts a run and waits for its end.
func Example() {
	_ = func(ctx context.Context, model loop.Model) error {
		c, err := client.Dial(client.Options{})
		if err != nil {
			return err
		}
		defer c.Close()
		tools, err := tool.NewSet(tool.New("book_room", "Books a room.", book))
		if err != nil {
			return err
		}
		w := worker.New(c, "agents", worker.Options{})
		if err := temporal.Register(w, temporal.Worker{Model: model, Tools: tools}); err != nil {
			return err
		}
		if err := w.Start(); err != nil {
			return err
		}
		defer w.Stop()
		r, err := temporal.Run(ctx, c, temporal.Options{ID: "order-42", TaskQueue: "agents"}, loop.Input{Prompt: "Two nights in Lisbon, please."}, loop.Config{})
		fmt.Println(r.Text, err)
		return nil
	}
	// Output:
}

// In a test nothing waits: the SDK's test environment replaces worker and server.
func ExampleOrder() {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quietLog{})
	env := suite.NewTestWorkflowEnvironment()
	tools, _ := tool.NewSet(tool.New("book_room", "Books a room.", book))
	model := looptest.NewModel(
		looptest.Call(message.Call{ID: "c1", Name: "book_room", Arguments: `{"city":"Lisbon","nights":"two"}`}),
		looptest.Call(message.Call{ID: "c2", Name: "book_room", Arguments: `{"city":"Lisbon","nights":2}`}),
		looptest.Say("Booked: R-Lisbon."),
	)
	if err := temporal.Register(env, temporal.Worker{Model: model, Tools: tools}); err != nil {
		fmt.Println(err)
	}
	order, err := temporal.Order(temporal.Options{ID: "order-42", TaskQueue: "agents"}, loop.Input{Prompt: "Two nights in Lisbon, please."}, loop.Config{})
	if err != nil {
		fmt.Println(err)
	}
	env.ExecuteWorkflow(temporal.DefaultAgent, order)
	r, err := temporal.Outcome(env.GetWorkflowResult)
	fmt.Println(r.Text, r.Turns, err)
	for _, a := range r.Attempts {
		fmt.Println(a.Action, a.Attempt, a.Reason)
	}
	// Output:
	// Booked: R-Lisbon. 3 <nil>
	// book_room 1 immediate
	// book_room 2 accepted
	//  1 accepted
}

type quietLog struct{}

func (quietLog) Debug(string, ...any) {}
func (quietLog) Info(string, ...any)  {}
func (quietLog) Warn(string, ...any)  {}
func (quietLog) Error(string, ...any) {}
