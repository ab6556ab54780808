package observe_test

import (
	"context"
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// Users read what they can act on; everything else is for operators.
func ExampleCallbacks() {
	callbacks := &observe.Callbacks{
		OnError: func(_ observe.Trace, e observe.ErrorInfo) { fmt.Println("user:    ", e.Message) },
		OnDebug: func(text string, d observe.DebugInfo) { fmt.Println("operator:", text, d.Chain) },
	}
	s, _ := session.New(session.Config{ID: "order-42"})
	model := looptest.NewModel(looptest.Fail(fault.ProviderError{Class: fault.Auth, Provider: "openai", Message: "401 bad key"}.Typed()))
	_, err := loop.Run(context.Background(), model, s, "Say hello.", loop.Config{}, loop.WithObserver(callbacks))
	fmt.Println(err != nil)
	// Output:
	// operator: attempt failed [*fault.AuthError: auth from openai: 401 bad key *fault.ProviderError: auth from openai: 401 bad key]
	// user:     Cannot sign in to OpenAI. Check your API key in settings.
	// true
}
