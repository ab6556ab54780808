package schema_test

import (
	"fmt"

	"github.com/retake-go/retake/schema"
)

type Booking struct {
	City   string `json:"city"   validate:"required" jsonschema:"description=Where to stay"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
	Room   string `json:"room"   validate:"oneof=single double" retake:"echo"`
}

func ExampleFor() {
	bookings, err := schema.For[Booking]()
	if err != nil {
		panic(err)
	}
	fmt.Println(string(bookings.Schema().JSON()))
	// Output:
	// {"properties":{"city":{"type":"string","minLength":1,"description":"Where to stay"},"nights":{"type":"integer","maximum":30,"minimum":1},"room":{"type":"string","enum":["single","double"],"x-echo":true}},"additionalProperties":false,"type":"object","required":["city","nights","room"]}
}

func ExampleTyped_Decode() {
	bookings, err := schema.For[Booking]()
	if err != nil {
		panic(err)
	}
	_, issues := bookings.Decode([]byte(`{"city": "Lisbon", "nights": "two", "room": "triple", "price": 90}`))
	for _, i := range issues {
		fmt.Println(i)
	}
	booking, _ := bookings.Decode([]byte(`{"city": "Lisbon", "nights": 2, "room": "double"}`))
	fmt.Printf("%+v\n", booking)
	// Output:
	// nights: expected integer (at least 1, at most 30), got string
	// price: expected no member of this name (allowed: city, nights, room), got integer
	// room: expected one of "single", "double", got "triple"
	// {City:Lisbon Nights:2 Room:double}
}

func ExampleCompile() {
	s, err := schema.Compile([]byte(`{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Check([]byte(`{"n": 0}`)))
	fmt.Println(s.Check([]byte(`{"n": 1}`)))
	// Output:
	// [n: expected at least 1, got integer]
	// []
}

func ExampleStrict() {
	fmt.Println(schema.Strict([]byte(`{"a": 1, "a": 2}`), schema.DefaultLimits()))
	// Output:
	// [a: expected each member name once]
}
