package ollama

import (
	"context"
	"fmt"
	"net/http"

	"github.com/retake-go/retake/adapter/kit"
)

// refusedError is a response whose status is no success.
type refusedError struct{ status int }

func (e *refusedError) Error() string { return fmt.Sprintf("the server answered %d", e.status) }

// failed returns the error of an exchange. An error in a stream has no status. The server's own for anything
// unnamed is 500.
func (x *exchange) failed(ctx context.Context, cause error) error {
	return x.Fail(ctx, kit.Trouble{Cause: cause, Otherwise: http.StatusInternalServerError})
}
