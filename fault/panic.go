package fault

import "fmt"

// PanicError is a panic that was contained. Safe for concurrent reading.
type PanicError struct {
	// Value is what was panicked with, Stack where; for operators.
	Value any
	Stack string
}

// Error says what was panicked with.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }
