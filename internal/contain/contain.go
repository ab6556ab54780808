// Package contain makes errors of panics in user code.
package contain

import (
	"runtime/debug"

	"github.com/retake-go/retake/fault"
)

// Recover converts a panic to a [fault.PanicError]. Defer it in functions that call user code.
func Recover(err *error) {
	if v := recover(); v != nil {
		*err = Panicked(v)
	}
}

// Panicked returns the error for a recovered value, with the place of the panic. It is to be called by the
// deferred function that recovered it, while the stack is still that of the panic.
func Panicked(value any) *fault.PanicError {
	return &fault.PanicError{Value: value, Stack: string(debug.Stack())}
}
