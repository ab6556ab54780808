package engine

import "github.com/retake-go/retake/internal/canon"

// Marshal returns the canonical JSON of a value: the form of journals and digests, in which equal values are
// equal bytes. Engines keep and send values of the core in it, because another encoder would rewrite the
// arguments of calls, and with them their idempotency keys. A value that has no JSON form (a NaN, a string
// that is not UTF-8, a channel) is refused.
func Marshal(v any) ([]byte, error) { return canon.Marshal(v) }

// Unmarshal reads one JSON text of any form into the value that v points to; raw parts of it become
// canonical. It refuses duplicate names, bytes that are not UTF-8 and data after the value, and passes over
// members that the Go type does not have.
func Unmarshal(raw []byte, v any) error {
	text, err := canon.JSON(raw)
	if err != nil {
		return err
	}
	return canon.Unmarshal(text, v)
}
