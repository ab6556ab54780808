// Package stack tells whether a function is being called on the goroutine's own stack. It is slow: it is for
// the path on which a lock would wait.
package stack

import (
	"reflect"
	"runtime"
)

// Has reports whether a call of the function is on the stack of this goroutine. A method is given as a method
// expression, such as (*T).Method.
func Has(function any) bool {
	name := runtime.FuncForPC(reflect.ValueOf(function).Pointer()).Name()
	callers := make([]uintptr, 64)
	for skip := 1; ; skip += len(callers) {
		n := runtime.Callers(skip, callers)
		if n == 0 {
			return false
		}
		frames := runtime.CallersFrames(callers[:n])
		for more := true; more; {
			var frame runtime.Frame
			if frame, more = frames.Next(); frame.Function == name {
				return true
			}
		}
	}
}
