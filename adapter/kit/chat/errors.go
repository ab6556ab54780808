package chat

import "github.com/retake-go/retake/adapter/kit"

// invalid is the error of a reply that does not follow the API.
func invalid(got string) error { return &kit.UnreadableError{Got: got} }

// reportedError is the error of a reply that reports one.
func reportedError(body []byte) error { return &kit.ReportedError{Body: body} }

// unfinished is the error of a reply that the server did not finish. code is the error code that it
// amounts to.
func unfinished(code, say string) error {
	return &kit.ReportedError{Code: code, Say: "the server did not finish the reply: " + say}
}
