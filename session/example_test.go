package session_test

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// Line is one line of a shopping cart.
type Line struct {
	SKU string `json:"sku"`
	Qty int    `json:"qty"`
}

// ItemAdded is the payload of the event "item_added".
type ItemAdded struct {
	SKU string `json:"sku"`
	Qty int    `json:"qty"`
}

var cart = session.StateSlice[Line]("cart")

func addItem(cart reducer.View[Line], e ItemAdded) (reducer.Change[Line], error) {
	if e.Qty < 1 {
		return reducer.None[Line](), errors.New("a line needs at least one item")
	}
	return reducer.Append(Line(e)), nil
}

func cartConfig() session.Config {
	return session.Config{
		ID:       "order-42",
		Slices:   []session.Declared{cart},
		Reducers: []session.Reducer{session.On(cart, "item_added", "cart.add", addItem)},
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Only its reducer changes the cart.
func Example() {
	s, err := session.New(cartConfig())
	if err != nil {
		fmt.Println(err)
		return
	}
	tea := must(session.NewEvent("item_added", ItemAdded{SKU: "tea", Qty: 1}))
	cup := must(session.NewEvent("item_added", ItemAdded{SKU: "cup", Qty: 2}))
	fmt.Println(s.Dispatch(tea, cup))

	for _, line := range session.View(s.State(), cart).All() {
		fmt.Println(line.Qty, line.SKU)
	}
	// Output:
	// <nil>
	// 1 tea
	// 2 cup
}

// A refused event changes no slice. It is recorded, and the hook is called at once.
func ExampleSession_Dispatch() {
	s := must(session.New(cartConfig()))
	s.OnReducerError(func(e fault.ReducerError) { fmt.Println("told:", e.Reducer) })

	err := s.Dispatch(session.Event{Name: "item_added", Payload: []byte(`{"sku": "tea", "qty": 0}`)})
	fmt.Println("returned:", err)

	var failure *fault.ReducerError
	if errors.As(err, &failure) {
		fmt.Println("payload:", failure.Payload)
	}
	recorded := s.State().ReducerErrors()[0]
	fmt.Println("recorded:", recorded.Message)
	fmt.Println("lines:", session.View(s.State(), cart).Len())
	// Output:
	// told: cart.add
	// returned: reducer "cart.add": a line needs at least one item
	// payload: {"qty":0,"sku":"tea"}
	// recorded: a line needs at least one item
	// lines: 0
}

// A session can be saved as canonical JSON and restored.
func ExampleRestore() {
	s := must(session.New(cartConfig()))
	if err := s.Dispatch(must(session.NewEvent("item_added", ItemAdded{SKU: "tea", Qty: 1}))); err != nil {
		fmt.Println(err)
	}
	snapshot := must(s.Snapshot())
	fmt.Println(string(snapshot))

	restored := must(session.Restore(cartConfig(), snapshot))
	line, _ := session.View(restored.State(), cart).Last()
	fmt.Println(line.SKU)

	_, err := session.Restore(session.Config{}, snapshot)
	fmt.Println(err)
	// Output:
	// {"attempts":[],"feedback":[],"format":"retake.session/1","id":"order-42","reducer_errors":[],"slices":[{"kind":"state","name":"cart","values":[{"qty":1,"sku":"tea"}]}]}
	// tea
	// slice "cart": unknown slice
}
