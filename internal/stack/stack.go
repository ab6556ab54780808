// Package stack tells whether a function is being called on the goroutine's own stack. It is slow: it is for
// the path on which a lock would wait.
package stack

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
)

// Holds reports whether a call of a method with this receiver is on the stack of this goroutine. The method
// must not be inlined, and must [Keep] its receiver after what it calls, so that the runtime knows it. If
// there are more frames than the runtime prints, any receiver counts.
func Holds[T any](method any, receiver *T) bool {
	if !Has(method) {
		return false
	}
	text := make([]byte, 16<<10)
	n := runtime.Stack(text, false)
	for n == len(text) {
		text = make([]byte, 2*len(text))
		n = runtime.Stack(text, false)
	}
	name := runtime.FuncForPC(reflect.ValueOf(method).Pointer()).Name()
	call := fmt.Appendf(nil, "%s(%p", name, receiver)
	for rest := text[:n]; ; {
		at := bytes.Index(rest, call)
		if at < 0 {
			return bytes.Contains(text[:n], []byte("frames elided..."))
		}
		if rest = rest[at+len(call):]; len(rest) > 0 &&
			!('0' <= rest[0] && rest[0] <= '9' || 'a' <= rest[0] && rest[0] <= 'f') {
			return true
		}
	}
}

// Keep is the last use of a receiver for [Holds].
func Keep[T any](receiver *T) { runtime.KeepAlive(receiver) }

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
