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
	"github.com/retake-go/retake/internal/canon"
)

// wire is the JSON form: the fields of the contract (docs/contracts.md), then our additions.
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

// MarshalJSON writes the wire form. next_delay_seconds is an exact decimal, tool_name is null for an answer,
// and both schedule fields are absent if no attempt follows. It returns the error of Validate for an invalid
// value.
func (f RetryFeedback) MarshalJSON() ([]byte, error) {
	if err := f.check(); err != nil {
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
		w.Delay = jsontext.Value(canon.InUnits(f.Schedule.Delay, time.Second))
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads the wire form strictly: it refuses unknown and repeated members and invalid UTF-8. The
// error names the place; the receiver is then unchanged.
func (f *RetryFeedback) UnmarshalJSON(data []byte) error {
	var w wire
	if err := json.Unmarshal(data, &w, json.RejectUnknownMembers(true)); err != nil {
		const reason = "must be strict JSON of the wire form, without other members"
		return &wireError{Pointer: pointerOf(err), Reason: reason, cause: err}
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
	if err := read.check(); err != nil {
		return err
	}
	*f = read
	return nil
}

// readSchedule reads the schedule. Both fields must be present or absent.
func readSchedule(w wire) (*Schedule, error) {
	if w.At == "" && w.Delay == nil {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339Nano, w.At)
	if err != nil {
		const reason = "must be an RFC 3339 time, and is needed beside next_delay_seconds"
		return nil, &wireError{Pointer: "/retry_scheduled_at", Reason: reason, cause: err}
	}
	delay, ok := parseSeconds(w.Delay)
	if !ok {
		reason := wantSeconds + ", and is needed beside retry_scheduled_at"
		return nil, &wireError{Pointer: "/next_delay_seconds", Reason: reason}
	}
	return &Schedule{At: at.UTC(), Delay: delay}, nil
}

// check reports all fields that the wire form does not allow, one error each, joined. It returns
// nil if there are none.
func (f RetryFeedback) check() error {
	isTool, next := f.Source == Tool, f.Schedule
	checks := []struct {
		ok      bool
		pointer string
		reason  string
	}{
		{isTool || f.Source == StructuredOutput, "/source", `must be "tool" or "structured_output"`},
		{isTool || f.ToolName == "", "/tool_name", "must be null if the source is structured_output"},
		{f.Attempt >= 1, "/attempt", "must be 1 or more"},
		{f.MaxAttempts != 0, "/max_attempts", "must be 1 or more, or negative for no bound"},
		{f.ErrorType != "", "/error_type", "must name a class of failure"},
		{next == nil || inYears(next.At), "/retry_scheduled_at", "must be in the years 0 to 9999"},
		{next == nil || next.Delay >= 0, "/next_delay_seconds", "must be 0 or more"},
	}
	var faults []error
	for _, c := range checks {
		if !c.ok {
			faults = append(faults, &wireError{Pointer: c.pointer, Reason: c.reason})
		}
	}
	return errors.Join(faults...)
}

const wantSeconds = "must be a JSON number of seconds, 0 or more, in whole nanoseconds and at most " +
	"9223372036.854775807"

// parseSeconds parses a JSON number of seconds exactly. It accepts exponents, which other languages print for
// small numbers. It refuses fractions of a nanosecond instead of rounding them.
func parseSeconds(text jsontext.Value) (time.Duration, bool) {
	_, exponent, _ := strings.Cut(strings.ToLower(string(text)), "e")
	if len(text) > 64 || len(exponent) > len("+99") { // bounds work and memory
		return 0, false
	}
	n, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return 0, false
	}
	n.Mul(n, big.NewRat(int64(time.Second), 1))
	return time.Duration(n.Num().Int64()), n.IsInt() && n.Num().IsInt64()
}

func inYears(t time.Time) bool {
	year := t.UTC().Year()
	return 0 <= year && year <= 9999
}

// wireError reports an invalid place of a feedback's wire form.
type wireError struct {
	// Pointer is the JSON Pointer of the place; empty for the whole text.
	Pointer string
	// Reason says what would be right.
	Reason string
	cause  error
}

// Error names the place and what would be right.
func (e *wireError) Error() string {
	if e.Pointer == "" {
		return "feedback: " + e.Reason
	}
	return fmt.Sprintf("feedback: %s %s", e.Pointer, e.Reason)
}

// Unwrap returns the decoder's error, or nil.
func (e *wireError) Unwrap() error { return e.cause }

func pointerOf(err error) string {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		return string(semantic.JSONPointer)
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return string(syntactic.JSONPointer)
	}
	return ""
}
