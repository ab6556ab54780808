package work

import (
	"errors"
	"strings"
)

// Booking is the argument of the tool in the row of runs.
type Booking struct {
	City   string `json:"city" validate:"required,max=60" jsonschema:"the city"`
	Nights int    `json:"nights" validate:"min=1,max=30" jsonschema:"how many nights"`
	Room   string `json:"room" validate:"required,oneof=single double" jsonschema:"single or double"`
}

// Receipt is the result of a tool.
type Receipt struct {
	Number string `json:"number"`
}

// Script is a run: the model's first call is bad, its second is good, and then it answers.
type Script struct {
	Tool, Description, Prompt string
	Bad, Good, Answer         string
	// Schema is the schema of the tool's arguments, for libraries that check with one.
	Schema []byte
}

// Reply returns the reply of a turn, counted from 0: the arguments of a call, or the answer. The turn is
// counted in the conversation, so one model serves all runs.
func (s *Script) Reply(turn int) (arguments, answer string) {
	switch turn {
	case 0:
		return s.Bad, ""
	case 1:
		return s.Good, ""
	}
	return "", s.Answer
}

// Small is a run whose tool takes a [Booking]. Two fields are bad in the first call.
func Small() Script {
	return Script{
		Tool: "book_room", Description: "Book a hotel room.", Prompt: "Two nights in Lisbon, please.",
		Bad:  `{"city":"Lisbon","nights":"two","room":"suite"}`,
		Good: `{"city":"Lisbon","nights":2,"room":"double"}`, Answer: "Done: R-1.", Schema: BookingSchema,
	}
}

// Large is [Small] with orders of a kilobyte. One field has text instead of a number in the first call.
func Large() Script {
	return Script{
		Tool: "place_order", Description: "Place an order.", Prompt: "The same as last spring, please.",
		Bad: strings.Replace(string(GoodOrder()), `"priority":3`, `"priority":"high"`, 1), Good: string(GoodOrder()), Answer: "Done: R-1.", Schema: OrderSchema,
	}
}

// ErrWrong means that a run did not get its answer after a correction.
var ErrWrong = errors.New("the run did not go as its script has it")

// Done is the result of the tools.
func Done() Receipt { return Receipt{Number: "R-1"} }
