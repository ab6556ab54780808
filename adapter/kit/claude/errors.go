package claude

import (
	"bytes"

	"github.com/retake-go/retake/adapter/kit"
)

// errorWithin is the error that an event of a stream tells.
func errorWithin(event []byte) error {
	return &kit.ReportedError{Body: bytes.Clone(event), Say: "an error within the stream"}
}
