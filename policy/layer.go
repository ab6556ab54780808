package policy

import (
	"fmt"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fields"
)

// Layer is a part of a policy: each field either says something or is absent. The fields are those of
// [RetryPolicy]; nil and "" mean absent, while an empty slice or map means "none". The zero Layer says
// nothing.
//
// A field is taken whole: a layer's bases or retryable errors replace those below it and are not merged with
// them.
type Layer struct {
	MaxAttempts      *int
	Backoff          *backoff.BackoffStrategy
	RetryableErrors  []fault.Class
	EmitFeedback     *bool
	Bases            map[fault.Class]time.Duration
	RetryAfter       RetryAfter
	RetryAfterJitter *backoff.Decimal
	MaxRetryAfter    *time.Duration
	MaxTotalDelay    *time.Duration
	Timeout          *time.Duration

	FirstTokenTimeout, IdleTimeout *time.Duration

	NoProgress     *int
	OptOut         *bool
	TextRepairs    Repairs
	NativeRepairs  Repairs
	FormsOff       []extract.Form
	OnReducerError ReducerAction
	Attempts       []Settings
	// Origins says where fields were written, in any order; fields without one are fine. It is no part of the
	// layer's JSON.
	Origins []Origin
}

// Origin says where one field of a [Layer] was written.
type Origin struct {
	// Field is the field's name in files, such as "max_attempts".
	Field string
	// Source is the place.
	Source Source
}

// Source is a place in a file. The zero value means "not known".
type Source struct {
	// File is the name of the file, or of the Go function that said it; then there is no line.
	File string
	// Line and Column are 1-based; Column counts characters.
	Line, Column int
}

// String is the place as compilers write it: "policy.yaml:3:1"; empty where it is not known.
func (s Source) String() string {
	if s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Column)
}

// Fields returns the names of all fields of a policy, as they stand in files and JSON, in the order of
// [RetryPolicy].
func Fields() []string { return layerTable().Names() }

// Sets returns the names of the fields that l says something about, in the order of [Fields].
func (l Layer) Sets() []string {
	var names []string
	for n, row := range layerTable().Rows {
		if fields.Says(&l, n) {
			names = append(names, row.Name)
		}
	}
	return names
}

// IsZero reports whether l says nothing.
func (l *Layer) IsZero() bool {
	for n := range layerTable().Rows {
		if fields.Says(l, n) {
			return false
		}
	}
	return true
}

// Source is where the field was written; zero where that is not known.
func (l Layer) Source(field string) Source {
	for _, o := range l.Origins {
		if o.Field == field {
			return o.Source
		}
	}
	return Source{}
}

// Over returns l laid over below: field by field, what l says wins. The result shares slices and maps with
// both.
func (l Layer) Over(below Layer) Layer {
	merged := below
	merged.Origins = nil
	layerTable().Over(&merged, &l)
	for n, row := range layerTable().Rows {
		from := &below
		if fields.Says(&l, n) {
			from = &l
		}
		if s := from.Source(row.Name); s != (Source{}) && fields.Says(from, n) {
			merged.Origins = append(merged.Origins, Origin{row.Name, s})
		}
	}
	return merged
}

// MarshalJSON writes the fields that l says something about, in the order of [Fields].
func (l Layer) MarshalJSON() ([]byte, error) { return layerTable().JSON(&l) }

// UnmarshalJSON replaces l with what the JSON says. It is strict: members that are unknown, stand twice or
// are null are refused, all faults joined, each a [*FieldError]; l is then left as it was. It checks types
// and no values: see [Layer.Validate].
func (l *Layer) UnmarshalJSON(data []byte) error {
	var read Layer
	if err := fields.ReadJSON(data, &read); err != nil {
		return err
	}
	*l = read
	return nil
}
