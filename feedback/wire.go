package feedback

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
)

// wire is the form in JSON: first the fields of the contract (docs/contracts.md), then our additions.
type wire struct {
	Source        Source         `json:"source"`
	ToolName      *string        `json:"tool_name"`
	Attempt       int            `json:"attempt"`
	MaxAttempts   int            `json:"max_attempts"`
	ErrorType     fault.Class    `json:"error_type"`
	Message       string         `json:"message"`
	At            string         `json:"retry_scheduled_at,omitempty"`
	Delay         jsontext.Value `json:"next_delay_seconds,omitempty"`
	Detail        string         `json:"detail,omitempty"`
	Issues        []fault.Issue  `json:"issues"`
	Diff          Diff           `json:"diff,omitzero"`
	CorrelationID string         `json:"correlation_id,omitempty"`
}

// MarshalJSON writes the wire form: next_delay_seconds is an exact decimal, tool_name is null for
// an answer, and both schedule fields are absent where no attempt follows. A value that could not be read
// back is refused.
func (f RetryFeedback) MarshalJSON() ([]byte, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	w := wire{
		Source: f.Source, Attempt: f.Attempt, MaxAttempts: f.MaxAttempts, ErrorType: f.ErrorType,
		Message: f.Message, Detail: f.Detail, Issues: f.Issues, Diff: f.Diff, CorrelationID: f.CorrelationID,
	}
	if f.ToolName != "" {
		w.ToolName = &f.ToolName
	}
	if f.Schedule != nil {
		w.At = f.Schedule.At.UTC().Format(time.RFC3339Nano)
		w.Delay = seconds(f.Schedule.Delay)
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the wire form strictly: unknown and repeated members, and text that is not UTF-8, are
// refused. The error names the place. The receiver is left as it was after an error.
func (f *RetryFeedback) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w, json.RejectUnknownMembers(true)); err != nil {
		const reason = "must be strict JSON of the wire form, without other members"
		return &WireError{Pointer: pointerOf(err), Reason: reason, cause: err}
	}
	read := RetryFeedback{
		Source: w.Source, Attempt: w.Attempt, MaxAttempts: w.MaxAttempts, ErrorType: w.ErrorType,
		Message: w.Message, Detail: w.Detail, Issues: w.Issues, Diff: w.Diff, CorrelationID: w.CorrelationID,
	}
	if len(read.Issues) == 0 {
		read.Issues = nil
	}
	if w.ToolName != nil {
		read.ToolName = *w.ToolName
	}
	schedule, err := readSchedule(w)
	if err != nil {
		return err
	}
	read.Schedule = schedule
	if err := read.Validate(); err != nil {
		return err
	}
	*f = read
	return nil
}

// readSchedule wants both fields or none.
func readSchedule(w wire) (*Schedule, error) {
	if w.At == "" && w.Delay == nil {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339Nano, w.At)
	if err != nil {
		const reason = "must be an RFC 3339 time, and is needed beside next_delay_seconds"
		return nil, &WireError{Pointer: "/retry_scheduled_at", Reason: reason, cause: err}
	}
	delay, ok := parseSeconds(w.Delay)
	if !ok {
		reason := wantSeconds + ", and is needed beside retry_scheduled_at"
		return nil, &WireError{Pointer: "/next_delay_seconds", Reason: reason}
	}
	return &Schedule{At: at.UTC(), Delay: delay}, nil
}

// Validate reports all fields that the wire form has no place for, each as a [WireError]; nil where there are
// none.
func (f RetryFeedback) Validate() error {
	checks := []struct {
		ok      bool
		pointer string
		reason  string
	}{
		{f.Source == Tool || f.Source == StructuredOutput, "/source", `must be "tool" or "structured_output"`},
		{f.Source == Tool || f.ToolName == "", "/tool_name", "must be null where the source is structured_output"},
		{f.Attempt >= 1, "/attempt", "must be 1 or more"},
		{f.MaxAttempts != 0, "/max_attempts", "must be 1 or more, or negative for no bound"},
		{f.ErrorType != "", "/error_type", "must name a class of failure"},
		{f.Schedule == nil || inYears(f.Schedule.At), "/retry_scheduled_at", "must lie in the years 0 to 9999"},
		{f.Schedule == nil || f.Schedule.Delay >= 0, "/next_delay_seconds", "must be 0 or more"},
	}
	var faults []error
	for _, c := range checks {
		if !c.ok {
			faults = append(faults, &WireError{Pointer: c.pointer, Reason: c.reason})
		}
	}
	return errors.Join(faults...)
}

const wantSeconds = "must be a JSON number of seconds, 0 or more, in whole nanoseconds and at most 9223372036.854775807"

// seconds is a duration as an exact decimal of seconds: 1500ms is "1.5".
func seconds(d time.Duration) jsontext.Value {
	text := fmt.Sprintf("%d.%09d", d/time.Second, d%time.Second)
	return jsontext.Value(strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
}

// parseSeconds reads a JSON number of seconds exactly, with an exponent too, as other languages print small
// numbers. What is finer than a nanosecond is refused, not rounded.
func parseSeconds(text jsontext.Value) (time.Duration, bool) {
	_, exponent, _ := strings.Cut(strings.ToLower(string(text)), "e")
	if len(text) > 64 || len(exponent) > len("+99") { // work and memory are bounded
		return 0, false
	}
	n, ok := new(big.Rat).SetString(string(text))
	if !ok || n.Sign() < 0 {
		return 0, false
	}
	n.Mul(n, big.NewRat(int64(time.Second), 1))
	return time.Duration(n.Num().Int64()), n.IsInt() && n.Num().IsInt64()
}

func inYears(t time.Time) bool {
	year := t.UTC().Year()
	return 0 <= year && year <= 9999
}

// WireError says which place of a feedback's wire form is wrong, and what would be right.
type WireError struct {
	// Pointer is the JSON Pointer of the place; empty for the whole text.
	Pointer string
	// Reason says what would be right.
	Reason string
	cause  error
}

// Error names the place and what would be right.
func (e *WireError) Error() string {
	if e.Pointer == "" {
		return "feedback: " + e.Reason
	}
	return fmt.Sprintf("feedback: %s %s", e.Pointer, e.Reason)
}

// Unwrap returns the decoder's error, where there is one.
func (e *WireError) Unwrap() error { return e.cause }

func pointerOf(err error) string {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return string(semantic.JSONPointer)
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return string(syntactic.JSONPointer)
	}
	return ""
}
