package ollama

import (
	"context"
	"net/http"

	"github.com/retake-go/retake/adapter/kit"
)

// errUnasked is a response of a server that did no more than to load the model, or to unload it.
var errUnasked = &kit.ReportedError{Code: "server_error", Say: "the server only loaded or unloaded the model"}

// errNoJSON is a body, or an event, that is no JSON of the API.
var errNoJSON = &kit.UnreadableError{Got: "no JSON of a reply"}

// failed returns the error of an exchange. An error in a stream has no status. The server's own for anything
// unnamed is 500.
func (x *exchange) failed(ctx context.Context, cause error) error {
	return x.Fail(ctx, kit.Trouble{Cause: cause, Otherwise: http.StatusInternalServerError})
}
