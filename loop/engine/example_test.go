package engine_test

import (
	"context"
	"fmt"
	"time"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// An engine that keeps the state itself reads and checks a reply, and steps it into the core as an event.
func ExampleRead() {
	type stay struct {
		Nights int `json:"nights" validate:"min=1,max=30"`
	}
	book := tool.New("book", "Books a room.", func(context.Context, stay) (string, error) { return "booked", nil })
	tools, _ := tool.NewSet(book)
	cfg, _ := loop.Config{Tools: tools}.Machine()
	set, now := policy.DefaultSet(), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

	s, _ := session.NewState("order-42")
	st, _ := machine.New(cfg, s)
	said := []message.Message{{Role: message.User, Text: "Two nights."}}
	_, _ = machine.Step(&st, &machine.Event{Kind: machine.Started, At: now, Messages: said})

	reply := message.Reply{Calls: []message.Call{{ID: "c1", Name: "book", Arguments: `{"nights": "two"}`}}}
	read := engine.Read(reply, engine.Offer{Tools: tools}, "", engine.Settings(&set))
	effects, err := machine.Step(&st, &machine.Event{Kind: machine.Replied, At: now, Reply: read})
	for _, e := range effects {
		fmt.Println(e)
	}
	fmt.Println(err)
	// Output:
	// tell the model: nights: expected integer (at least 1, at most 30), got string
	// call the model, book attempt 2 of 3
	// <nil>
}

// The caller reports events to a Runner, which returns what to do next. It has no clock, and the caller
// calls the model.
func ExampleRunner() {
	s, _ := session.New(session.Config{ID: "order-42"})
	cfg, _ := loop.Config{}.Machine()
	m, _ := machine.Compile(&cfg)
	r, _ := engine.New(engine.RunnerConfig{Session: s, Machine: m})
	defer r.Close()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	effects, _ := r.Start(now, message.Message{Role: message.User, Text: "Where?"})
	fmt.Println(effects)
	effects, _ = r.Reply(now, message.Reply{Text: "In Lisbon.", Finish: message.Stop})
	fmt.Println(effects)
	result, err := loop.ResultOf(r.End(), nil)
	fmt.Println(result.Text, err)
	// Output:
	// [call the model, attempt 1 of 3]
	// [accept the answer, attempt 1 of 3 done: In Lisbon.]
	// In Lisbon. <nil>
}

// An engine that keeps the state itself, such as a queue, writes it down after each step, with the effect
// that is to be carried out next. Any process goes on from there.
func ExampleRunner_state() {
	cfg, _ := loop.Config{}.Machine()
	m, _ := machine.Compile(&cfg)
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	var state, next []byte // a row of a table, say
	write := func(r *engine.Runner, effects []machine.Effect, err error) {
		if err == nil {
			state, err = r.State().Snapshot()
		}
		if err == nil {
			next, err = engine.Marshal(effects[len(effects)-1])
		}
		if r.Close(); err != nil {
			panic(err)
		}
	}

	s, _ := session.New(session.Config{ID: "order-42"})
	r, _ := engine.New(engine.RunnerConfig{Session: s, Machine: m})
	effects, err := r.Start(now, message.Message{Role: message.User, Text: "Where?"})
	write(r, effects, err)

	var asked machine.Effect
	_ = engine.Unmarshal(next, &asked)
	fmt.Println(asked)
	st, _ := machine.Restore(state)
	s, _ = session.New(session.Config{ID: "order-42"})
	r, _ = engine.New(engine.RunnerConfig{Session: s, State: &st})
	effects, err = r.Reply(now, message.Reply{Text: "In Lisbon.", Finish: message.Stop})
	write(r, effects, err)

	st, _ = machine.Restore(state)
	result, err := loop.ResultOf(engine.End{State: st}, nil)
	fmt.Println(result.Text, err)
	// Output:
	// call the model, attempt 1 of 3
	// In Lisbon. <nil>
}
