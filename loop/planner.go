package loop

// plannerError is a planner's own error, beside the one that it was asked about; nil for none.
type plannerError struct{ err, asked error }

func (e *plannerError) Error() string {
	if e.asked == nil {
		return e.words()
	}
	return e.words() + "; it was asked about: " + e.asked.Error()
}

func (e *plannerError) words() string { return "planner: " + e.err.Error() }

func (e *plannerError) Unwrap() []error {
	if e.asked == nil {
		return []error{e.err}
	}
	return []error{e.err, e.asked}
}
