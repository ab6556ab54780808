package work

import "errors"

// Booking is what the tool of the run row takes.
type Booking struct {
	City   string `json:"city" validate:"required,max=60" jsonschema:"the city"`
	Nights int    `json:"nights" validate:"min=1,max=30" jsonschema:"how many nights"`
	Room   string `json:"room" validate:"required,oneof=single double" jsonschema:"single or double"`
}

// Receipt is what it gives.
type Receipt struct {
	Number string `json:"number"`
}

// The run: the model's first call is bad in two ways, its second is good, then it answers.
const (
	Tool        = "book_room"
	Description = "Book a hotel room."
	Prompt      = "Two nights in Lisbon, please."
	BadCall     = `{"city":"Lisbon","nights":"two","room":"suite"}`
	GoodCall    = `{"city":"Lisbon","nights":2,"room":"double"}`
	Answer      = "Booked: R-1."
)

// ErrWrong says that a run did not come to its answer by way of a correction.
var ErrWrong = errors.New("the run did not go as its script has it")

// Book is the tool's work.
func Book(Booking) Receipt { return Receipt{Number: "R-1"} }
