// Package work has the values, rules and documents that all benchmarks use.
package work

import "strings"

// Order is the answer of a model: eight fields, nested, with an enum, an email address, a list of structs
// and a map.
type Order struct {
	ID       string            `json:"id" validate:"required,max=40"`
	Kind     string            `json:"kind" validate:"oneof=order quote refund"`
	Contact  string            `json:"contact" validate:"required,email"`
	Priority int               `json:"priority" validate:"min=1,max=5"`
	Total    float64           `json:"total" validate:"gte=0"`
	Ship     Address           `json:"ship"`
	Items    []Item            `json:"items" validate:"min=1,max=50,dive"`
	Labels   map[string]string `json:"labels" validate:"max=10,dive,keys,max=20,endkeys,required"`
}

// Address is the destination of an order.
type Address struct {
	Street string `json:"street" validate:"required"`
	City   string `json:"city" validate:"required"`
	Code   string `json:"code" validate:"len=5"`
}

// Item is one line of an order.
type Item struct {
	SKU   string  `json:"sku" validate:"required,alphanum"`
	Count int     `json:"count" validate:"gt=0"`
	Price float64 `json:"price" validate:"gte=0"`
	Note  string  `json:"note" validate:"max=200"`
}

// GoodOrder is an [Order] of about 1 KB that meets every rule.
func GoodOrder() []byte {
	item := `{"sku":"A1B2C3","count":2,"price":19.95,"note":"wrap it as a present, please, and add a card with good wishes"}`
	return []byte(`{"id":"order-2024-0042","kind":"order","contact":"jo.doe@example.com","priority":3,"total":239.4,
		"ship":{"street":"Rua Augusta 12, 3. esq.","city":"Lisboa","code":"11000"},
		"items":[` + item + strings.Repeat(","+item, 5) + `],"labels":{"source":"chat","tone":"friendly","campaign":"spring"}}`)
}

// BadOrder is [GoodOrder] with three faults: a kind that is not in the enum, text instead of a number, and
// a code that is too short.
func BadOrder() []byte {
	faults := strings.NewReplacer(`"order",`, `"ordre",`, `"priority":3`, `"priority":"high"`, `"code":"11000"`, `"code":"1100"`)
	return []byte(faults.Replace(string(GoodOrder())))
}
