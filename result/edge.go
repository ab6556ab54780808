package result

// Map applies f to the data of a success and leaves all else as it was, metadata too.
func Map[T, U any](r Result[T], f func(T) U) Result[U] {
	mapped := Result[U]{Status: r.Status, Error: r.Error, Meta: r.Meta}
	if r.IsSuccess() {
		mapped.Data = f(r.Data)
	}
	return mapped
}

// AndThen goes on with the data of a success: the outcome is that of next, and what both took is summed; the
// warnings of r stand before those of next. What is no success passes by.
func AndThen[T, U any](r Result[T], next func(T) Result[U]) Result[U] {
	if !r.IsSuccess() {
		return Map[T, U](r, nil)
	}
	then := next(r.Data)
	then.Execution = then.Execution.Plus(r.Execution)
	if len(r.Warnings) > 0 {
		then.Warnings = r.Warn(then.Warnings...).Warnings
	}
	return then
}

// Cases says what to make of each kind of result. A nil case makes the zero value.
type Cases[T, R any] struct {
	Success    func(T) R
	Error      func(Error) R
	InProgress func(Meta) R
}

// Match makes one value of a result, whatever kind it is. An invalid result makes the zero value.
func Match[T, R any](r Result[T], cases Cases[T, R]) R {
	var none R
	switch {
	case r.IsSuccess() && cases.Success != nil:
		return cases.Success(r.Data)
	case r.IsError() && cases.Error != nil:
		return cases.Error(r.Error)
	case r.IsInProgress() && cases.InProgress != nil:
		return cases.InProgress(r.Meta)
	}
	return none
}
