package policy

import (
	"fmt"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
)

// Layer is a part of a policy: each field either says something or is absent. The fields are those of [RetryPolicy]; nil
// and "" mean absent, while an empty slice or map means "none". The zero Layer says nothing.
//
// A field is taken whole: a layer's bases or retryable errors replace those below it and are not merged with them.
type Layer struct {
	MaxAttempts     *int
	Backoff         *backoff.BackoffStrategy
	RetryableErrors []fault.Class
	EmitFeedback    *bool
	Bases           map[fault.Class]time.Duration
	RetryAfter      RetryAfter
	MaxRetryAfter   *time.Duration
	MaxTotalDelay   *time.Duration
	NoProgress      *int
	OptOut          *bool
	TextRepairs     Repairs
	NativeRepairs   Repairs
	FormsOff        []extract.Form
	OnReducerError  ReducerAction
	// Origins says where fields were written, in any order; fields without one are fine. It is no part of the layer's
	// JSON.
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
	File string
	// Line and Column are 1-based; Column counts characters.
	Line, Column int
}

// String is the place as compilers write it: "policy.yaml:3:1"; empty where it is not known.
func (s Source) String() string {
	if s == (Source{}) {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", s.File, s.Line, s.Column)
}

// Fields returns the names of all fields of a policy, as they stand in files and JSON, in the order of [RetryPolicy].
func Fields() []string {
	names := make([]string, len(fields))
	for n, f := range fields {
		names[n] = f.name
	}
	return names
}

// Sets returns the names of the fields that l says something about, in the order of [Fields].
func (l Layer) Sets() []string {
	var names []string
	for _, f := range fields {
		if f.set(&l) {
			names = append(names, f.name)
		}
	}
	return names
}

// IsZero reports whether l says nothing.
func (l Layer) IsZero() bool { return l.silent() }

func (l *Layer) silent() bool {
	return l.MaxAttempts == nil && l.Backoff == nil && l.RetryableErrors == nil && l.EmitFeedback == nil && l.Bases == nil &&
		l.RetryAfter == "" && l.MaxRetryAfter == nil && l.MaxTotalDelay == nil && l.NoProgress == nil && l.OptOut == nil &&
		l.TextRepairs == "" && l.NativeRepairs == "" && l.FormsOff == nil && l.OnReducerError == ""
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

// Over returns l laid over below: field by field, what l says wins. The result shares slices with both.
func (l Layer) Over(below Layer) Layer {
	merged, origins := below, []Origin(nil)
	for _, f := range fields {
		from := &below
		if f.set(&l) {
			f.take(&merged, &l)
			from = &l
		}
		if s := from.Source(f.name); s != (Source{}) && f.set(from) {
			origins = append(origins, Origin{f.name, s})
		}
	}
	merged.Origins = origins
	return merged
}

// onto lays what l says over p. It is [Layer.Over] for a policy, without a walk over the fields: a test holds both to the same.
func (l *Layer) onto(p *RetryPolicy) {
	if l.silent() {
		return
	}
	lay(&p.MaxAttempts, l.MaxAttempts)
	lay(&p.Backoff, l.Backoff)
	lay(&p.EmitFeedback, l.EmitFeedback)
	lay(&p.MaxRetryAfter, l.MaxRetryAfter)
	lay(&p.MaxTotalDelay, l.MaxTotalDelay)
	lay(&p.NoProgress, l.NoProgress)
	lay(&p.OptOut, l.OptOut)
	layWord(&p.RetryAfter, l.RetryAfter)
	layWord(&p.TextRepairs, l.TextRepairs)
	layWord(&p.NativeRepairs, l.NativeRepairs)
	layWord(&p.OnReducerError, l.OnReducerError)
	if l.RetryableErrors != nil {
		p.RetryableErrors = l.RetryableErrors
	}
	if l.Bases != nil {
		p.Bases = l.Bases
	}
	if l.FormsOff != nil {
		p.FormsOff = l.FormsOff
	}
}

// lay puts a value in its place where there is one.
func lay[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func layWord[S ~string](to *S, from S) {
	if from != "" {
		*to = from
	}
}

// resolved is the policy that a layer with every field set spells.
func (l Layer) resolved() RetryPolicy {
	return RetryPolicy{
		MaxAttempts:     *l.MaxAttempts,
		Backoff:         *l.Backoff,
		RetryableErrors: l.RetryableErrors,
		EmitFeedback:    *l.EmitFeedback,
		Bases:           l.Bases,
		RetryAfter:      l.RetryAfter,
		MaxRetryAfter:   *l.MaxRetryAfter,
		MaxTotalDelay:   *l.MaxTotalDelay,
		NoProgress:      *l.NoProgress,
		OptOut:          *l.OptOut,
		TextRepairs:     l.TextRepairs,
		NativeRepairs:   l.NativeRepairs,
		FormsOff:        l.FormsOff,
		OnReducerError:  l.OnReducerError,
	}
}
