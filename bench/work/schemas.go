package work

import _ "embed" // for the schemas

// OrderSchema and BookingSchema are the JSON Schemas of both types with every rule in them, as retake makes
// them: for the libraries that check against one. A test of package check holds them to that.
var (
	//go:embed order.schema.json
	OrderSchema []byte
	//go:embed booking.schema.json
	BookingSchema []byte
)
