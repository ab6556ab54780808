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

// Match calls the function for the status of a result. An invalid result gives the zero value.
func Match[T, R any](
	r Result[T], success func(T) R, failure func(Error) R, inProgress func(Meta) R,
) (matched R) {
	switch r.Status {
	case StatusSuccess:
		return success(r.Data)
	case StatusError:
		return failure(r.Error)
	case StatusInProgress:
		return inProgress(r.Meta)
	}
	return matched
}
