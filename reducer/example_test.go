package reducer_test

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/reducer"
)

type Line struct {
	SKU string `json:"sku"`
	Qty int    `json:"qty"`
}

type ItemAdded struct {
	SKU string `json:"sku"`
	Qty int    `json:"qty"`
}

// A reducer is a plain function. Test it by calling it.
func Example() {
	add := func(cart reducer.View[Line], e ItemAdded) (reducer.Change[Line], error) {
		if e.Qty < 1 {
			return reducer.None[Line](), errors.New("a line needs at least one item")
		}
		for _, line := range cart.All() {
			if line.SKU == e.SKU {
				return reducer.None[Line](), fmt.Errorf("%s is in the cart already", e.SKU)
			}
		}
		return reducer.Append(Line(e)), nil
	}

	cart := reducer.ViewOf(Line{SKU: "tea", Qty: 1})
	change, err := add(cart, ItemAdded{SKU: "cup", Qty: 2})
	fmt.Println(change.Apply(cart), err)

	op, err := reducer.Encode("cart", change)
	fmt.Println(op.Kind, op.Slice, string(op.Values[0]), err)

	_, err = add(cart, ItemAdded{SKU: "tea", Qty: 1})
	fmt.Println(err)
	// Output:
	// [{tea 1} {cup 2}] <nil>
	// append cart {"qty":2,"sku":"cup"} <nil>
	// tea is in the cart already
}
