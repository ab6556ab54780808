package result

// Map applies f to the data of a success and leaves all else as it was, metadata too.
func Map[T, U any](r Result[T], f func(T) U) Result[U] {
	mapped := Result[U]{Status: r.Status, Error: r.Error, Meta: r.Meta}
	if r.IsSuccess() {
		mapped.Data = f(r.Data)
	}
	return mapped
}

// AndThen calls next with the data of a success. The outcome is that of next, what both took is added up, and
// the warnings of r come before those of next. Any other result is returned as it is.
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

// Cases has a function for each kind of result. A nil function gives the zero value.
type Cases[T, R any] struct {
	Success    func(T) R
	Error      func(Error) R
	InProgress func(Meta) R
}

// Match calls the function for the kind of a result. An invalid result gives the zero value.
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
