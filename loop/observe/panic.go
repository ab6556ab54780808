package observe

import (
	"runtime/debug"

	"github.com/retake-go/retake/fault"
)

// Recover makes a [fault.PanicError] of a panic under way, for functions that contain the panics of others:
// it is called by defer.
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = &fault.PanicError{Value: v, Stack: string(debug.Stack())}
	}
}
