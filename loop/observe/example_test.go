package observe_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// Users read what they can act on. Operators read the rest.
func ExampleCallbacks() {
	callbacks := &observe.Callbacks{
		OnError: func(_ observe.Trace, e observe.ErrorInfo) { fmt.Println("user:    ", e.Message) },
		OnDebug: func(text string, d observe.DebugInfo) { fmt.Println("operator:", text, d.Chain) },
	}
	s, _ := session.New(session.Config{ID: "order-42"})
	model := looptest.NewModel(looptest.Fail(fault.Typed(fault.ProviderError{Class: fault.Auth, Provider: "openai", Message: "401 bad key"})))
	l, _ := loop.New(model, loop.Config{}, loop.WithObserver(callbacks))
	_, err := l.Run(context.Background(), s, loop.Input{Prompt: "Say hello."})
	fmt.Println(err != nil)
	// Output:
	// operator: attempt failed [*fault.AuthError: auth from openai: 401 bad key *fault.ProviderError: auth from openai: 401 bad key]
	// user:     Cannot sign in to OpenAI. Check your API key in settings.
	// true
}

// A run's notices as log records. The correlation id is the session's.
func ExampleLogTo() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "duration" {
			return slog.Attr{}
		}
		return a
	}}))
	s, _ := session.New(session.Config{ID: "order-42"})
	model := looptest.NewModel(looptest.Say(""), looptest.Say("In Lisbon."))
	l, _ := loop.New(model, loop.Config{}, loop.WithObserver(observe.LogTo(logger)))
	_, err := l.Run(context.Background(), s, loop.Input{Prompt: "Where?"})
	fmt.Println(err)
	// Output:
	// level=INFO msg="run began" correlation_id=order-42
	// level=INFO msg=retrying correlation_id=order-42 plane=correction error_type=no_output reason=immediate attempt=1 max_attempts=3 delay=0s
	// level=INFO msg="run ended" correlation_id=order-42 reason=accepted turns=2 attempts=2
	// <nil>
}

// One Metrics counts all runs of a program.
func ExampleMetrics() {
	var metrics observe.Metrics
	model := looptest.NewModel(looptest.Say(""), looptest.Say("In Lisbon."))
	l, _ := loop.New(model, loop.Config{}, loop.WithObserver(&metrics))
	_, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Where?"})
	fmt.Println(metrics.Counts().CorrectionRetries, err)
	// Output: 1 <nil>
}

// An observer gets each decision when it is made.
func ExampleObserverFunc() {
	show := observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		fmt.Println(n.Kind, n.Attempt, n.Class, string(n.Reason))
	})
	model := looptest.NewModel(looptest.Say(""), looptest.Say("In Lisbon."))
	l, _ := loop.New(model, loop.Config{}, loop.WithObserver(show))
	_, err := l.Run(context.Background(), nil, loop.Input{Prompt: "Where?"})
	fmt.Println(err)
	// Output:
	// attempt 1 no_output immediate
	// retry 1 no_output immediate
	// attempt 2  accepted
	// ended 0  accepted
	// <nil>
}
