package fault

import "fmt"

// PanicError is a panic that was contained. Safe for concurrent reading.
type PanicError struct {
	// Value is the value of the panic and Stack its place, for operators.
	Value any
	Stack string
}

// Error has the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
