package fault

import (
	"fmt"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
)

// PanicError is a panic that was contained. Safe for concurrent reading.
type PanicError struct {
	// Tool is the name of the tool that panicked; empty for other code.
	Tool string
	// Value is the value of the panic. If a tool panicked with an error whose own methods panic, it is a text
	// with its type.
	Value any
	// Stack is the place of the panic, for operators.
	Stack string
}

// Error has the value of the panic, and names the tool.
func (e *PanicError) Error() string {
	if e.Tool == "" {
		return canon.Visible(fmt.Sprintf("panic: %v", e.Value))
	}
	return canon.Visible(fmt.Sprintf("tool %q panicked: %v", e.Tool, e.Value))
}

// Unwrap returns the error that a tool panicked with; nil for other panics.
func (e *PanicError) Unwrap() error {
	if err, isError := e.Value.(error); isError && e.Tool != "" {
		return chain.Bounded(err)
	}
	return nil
}

// Sealed reports whether a tool panicked: see [Sealed].
func (e *PanicError) Sealed(string) bool { return e.Tool != "" }
