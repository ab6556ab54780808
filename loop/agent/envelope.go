package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/session"
)

// Envelope converts what [loop.Loop.Run] returned to a result envelope. Its data is the checked answer, the
// text if no schema was given, or the accepted calls as a list of "tool" and "arguments". Its content is the
// text of the answer, if the data is not that text itself. A run that was degraded to plain text is a success
// without data, with a warning. Repairs of accepted replies are warnings too, and so is each call whose
// effect is unknown. The retry count is the number of attempts, of either plane, that were followed by
// another. For [loop.Generate] pass the Result of its answer. A suspended run is in progress.
func Envelope(r loop.Result, err error) result.Result[json.RawMessage] {
	err = fault.Bounded(err)
	e := result.Success(dataOf(r))
	e.Finish = message.Stop
	if len(r.Calls) > 0 {
		e.Finish = message.ToolUse
	}
	switch {
	case errors.Is(err, loop.ErrSuspended):
		e = result.InProgress[json.RawMessage](nil)
		e.Message = "the run is suspended and can be resumed"
	case err != nil:
		e = failedEnvelope(err)
	}
	if e.Warnings = slices.Clip(r.Warnings); !e.IsSuccess() || !isText(r) {
		e.Content = r.Text
	}
	e.Execution.Usage = result.Usage{Usage: r.Usage}
	e.Execution.Usage.TotalTokens = e.Execution.Usage.Tokens()
	again := 0
	for _, a := range r.Attempts {
		if a.Retry {
			again++
		}
		if text := repaired(a); text != "" {
			e.Warnings = append(e.Warnings, text)
		}
	}
	for _, c := range r.InDoubt {
		e.Warnings = append(e.Warnings, "a call of "+c.Tool+" may or may not have had its effect: key "+c.Key)
	}
	e.Execution.RetryCount = new(again)
	return e
}

// repaired describes the repairs of an attempt that passed: "the answer was repaired: trailing_comma". It is
// empty if nothing that the model said had to be changed.
func repaired(a session.Attempt) string {
	kinds := slices.DeleteFunc(slices.Clone(a.Repairs), extract.Form.Around)
	if len(kinds) == 0 || a.Class != "" {
		return ""
	}
	what := "the answer"
	if a.Action != "" {
		what = "a call of " + a.Action
	}
	names := make([]string, len(kinds))
	for n, k := range kinds {
		names[n] = string(k)
	}
	return what + " was repaired: " + strings.Join(names, ", ")
}

// isText reports whether the data of a successful run is its text.
func isText(r loop.Result) bool { return r.Value == nil && !r.Degraded && len(r.Calls) == 0 }

// dataOf returns the data of a successful run as JSON; nil for none.
func dataOf(r loop.Result) json.RawMessage {
	type call struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var data any = r.Text
	switch {
	case r.Value != nil || r.Degraded:
		return r.Value
	case len(r.Calls) > 0:
		calls := make([]call, len(r.Calls))
		for n, c := range r.Calls {
			calls[n] = call{c.Tool, c.Arguments}
		}
		data = calls
	}
	doc, err := canon.Marshal(data)
	if err != nil {
		return nil
	}
	return doc
}

// failedEnvelope returns the error of a run as data, with the class of the last failure.
func failedEnvelope(err error) result.Result[json.RawMessage] {
	r := result.FromError[json.RawMessage](err)
	if x, ok := errors.AsType[*loop.RetryExhaustedError](err); ok {
		class := cmp.Or(x.Failure.Class, x.Reason.Class(), r.Error.Class)
		if class == fault.Cancelled && r.Error.Class == fault.DeadlineExceeded {
			class = fault.DeadlineExceeded
		}
		r.Error.Class, r.Error.Message = class, err.Error()
		r.Error.Retryable = new(class.Transient() && !x.Failure.Final)
	}
	if state := ratelimit.OfError(err); state.Limited || state.RetryAfter.Known {
		r.RateLimit = state
	}
	r.Finish = message.Error
	return r
}
