package observe

import (
	"runtime/debug"

	"github.com/retake-go/retake/fault"
)

// Recover converts a panic to a [fault.PanicError]. Defer it in functions that call user code.
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = &fault.PanicError{Value: v, Stack: string(debug.Stack())}
	}
}
