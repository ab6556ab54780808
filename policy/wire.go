package policy

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
)

// limit is a count that may be unlimited, span a duration that may be, repeats a count that may be off.
type (
	limit   int
	span    time.Duration
	repeats int
)

const unlimited = `"unlimited"`

func (n limit) MarshalJSON() ([]byte, error) {
	if n == Unlimited {
		return []byte(unlimited), nil
	}
	return json.Marshal(int(n))
}

func (d span) MarshalJSON() ([]byte, error) {
	if d == Unlimited {
		return []byte(unlimited), nil
	}
	return json.Marshal(time.Duration(d).String())
}

func (n repeats) MarshalJSON() ([]byte, error) {
	if n == 0 {
		return []byte(`"off"`), nil
	}
	return json.Marshal(int(n))
}

// wireLayer is the JSON of a [Layer], and of a [RetryPolicy] where every field is there.
type wireLayer struct {
	MaxAttempts     *limit                   `json:"max_attempts,omitempty"`
	Backoff         *backoff.BackoffStrategy `json:"backoff,omitempty"`
	RetryableErrors words[fault.Class]       `json:"retryable_errors,omitzero"`
	EmitFeedback    *bool                    `json:"emit_feedback,omitempty"`
	Bases           table[fault.Class, span] `json:"bases,omitzero"`
	RetryAfter      RetryAfter               `json:"retry_after,omitempty"`
	MaxRetryAfter   *span                    `json:"max_retry_after,omitempty"`
	MaxTotalDelay   *span                    `json:"max_total_delay,omitempty"`
	NoProgress      *repeats                 `json:"no_progress,omitempty"`
	OptOut          *bool                    `json:"opt_out,omitempty"`
	TextRepairs     Repairs                  `json:"text_repairs,omitempty"`
	NativeRepairs   Repairs                  `json:"native_repairs,omitempty"`
	FormsOff        words[extract.Form]      `json:"forms_off,omitzero"`
	OnReducerError  ReducerAction            `json:"on_reducer_error,omitempty"`
}

func (w *wireLayer) slots() []slot {
	return []slot{
		{"max_attempts", wantLimit, &w.MaxAttempts},
		{"backoff", "an object", &w.Backoff},
		{"retryable_errors", "an array of classes", &w.RetryableErrors},
		{"emit_feedback", wantSwitch, &w.EmitFeedback},
		{"bases", "an object of classes and durations", &w.Bases},
		{"retry_after", wantWord, &w.RetryAfter},
		{"max_retry_after", wantSpan, &w.MaxRetryAfter},
		{"max_total_delay", wantSpan, &w.MaxTotalDelay},
		{"no_progress", wantRepeats, &w.NoProgress},
		{"opt_out", wantSwitch, &w.OptOut},
		{"text_repairs", wantWord, &w.TextRepairs},
		{"native_repairs", wantWord, &w.NativeRepairs},
		{"forms_off", "an array of forms", &w.FormsOff},
		{"on_reducer_error", wantWord, &w.OnReducerError},
	}
}

// MarshalJSON writes the fields that l says something about, in the order of [Fields].
func (l Layer) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireLayer{
		(*limit)(l.MaxAttempts), l.Backoff, l.RetryableErrors, l.EmitFeedback, convert[span](l.Bases), l.RetryAfter,
		(*span)(l.MaxRetryAfter), (*span)(l.MaxTotalDelay), (*repeats)(l.NoProgress), l.OptOut,
		l.TextRepairs, l.NativeRepairs, l.FormsOff, l.OnReducerError,
	})
}

// UnmarshalJSON replaces l with what the JSON says. It is strict: members that are unknown, stand twice or are null are refused, all
// faults joined, each a [*FieldError]; l is then left as it was. It checks types and no values: see [Layer.Validate].
func (l *Layer) UnmarshalJSON(data []byte) error {
	var w wireLayer
	if err := read(data, w.slots()); err != nil {
		return err
	}
	*l = Layer{
		(*int)(w.MaxAttempts), w.Backoff, w.RetryableErrors, w.EmitFeedback, convert[time.Duration](w.Bases), w.RetryAfter,
		(*time.Duration)(w.MaxRetryAfter), (*time.Duration)(w.MaxTotalDelay), (*int)(w.NoProgress), w.OptOut,
		w.TextRepairs, w.NativeRepairs, w.FormsOff, w.OnReducerError, nil,
	}
	return nil
}

// MarshalJSON writes every field.
func (p RetryPolicy) MarshalJSON() ([]byte, error) { return p.Layer().MarshalJSON() }

// UnmarshalJSON replaces p: what the JSON does not name has the value of [Correction]. It is as strict as that of [Layer]. It checks
// types and no values: see [RetryPolicy.Validate].
func (p *RetryPolicy) UnmarshalJSON(data []byte) error {
	var l Layer
	if err := l.UnmarshalJSON(data); err != nil {
		return err
	}
	*p = l.Over(Correction().Layer()).resolved()
	return nil
}

type wireBudgets struct {
	Tool         limit `json:"tool"`
	Run          limit `json:"run"`
	UnknownTools limit `json:"unknown_tools"`
}

func (w *wireBudgets) slots() []slot {
	return []slot{{"tool", wantLimit, &w.Tool}, {"run", wantLimit, &w.Run}, {"unknown_tools", wantLimit, &w.UnknownTools}}
}

// MarshalJSON writes all three budgets.
func (b Budgets) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireBudgets{limit(b.Tool), limit(b.Run), limit(b.UnknownTools)})
}

// UnmarshalJSON replaces b: a budget the JSON does not name has the value of [DefaultBudgets]. It is as strict as that of [Layer].
func (b *Budgets) UnmarshalJSON(data []byte) error {
	d := DefaultBudgets()
	w := wireBudgets{limit(d.Tool), limit(d.Run), limit(d.UnknownTools)}
	if err := read(data, w.slots()); err != nil {
		return err
	}
	*b = Budgets{int(w.Tool), int(w.Run), int(w.UnknownTools)}
	return nil
}

type wireSet struct {
	Global        Layer                `json:"global,omitzero"`
	Tools         table[string, Layer] `json:"tools,omitempty"`
	Answer        Layer                `json:"answer,omitzero"`
	Call          Layer                `json:"call,omitzero"`
	Adjusted      Layer                `json:"adjusted,omitzero"`
	Transport     Layer                `json:"transport,omitzero"`
	ToolTransport table[string, Layer] `json:"tool_transport,omitempty"`
	Budgets       Budgets              `json:"budgets"`
	MaxTurns      limit                `json:"max_turns"`
	MaxCalls      limit                `json:"max_calls"`
	AllOrNothing  bool                 `json:"all_or_nothing"`
}

func (w *wireSet) slots() []slot {
	return []slot{
		{"global", wantLayer, &w.Global},
		{"tools", "an object of tools and layers", &w.Tools},
		{"answer", wantLayer, &w.Answer},
		{"call", wantLayer, &w.Call},
		{"adjusted", wantLayer, &w.Adjusted},
		{"transport", wantLayer, &w.Transport},
		{"tool_transport", "an object of tools and layers", &w.ToolTransport},
		{"budgets", "an object", &w.Budgets},
		{"max_turns", wantLimit, &w.MaxTurns},
		{"max_calls", wantLimit, &w.MaxCalls},
		{"all_or_nothing", wantSwitch, &w.AllOrNothing},
	}
}

// MarshalJSON writes the set in the form that package policy/file reads; layers that say nothing are left out.
func (s Set) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireSet{
		s.Global, s.Tools, s.Answer, s.Call, s.Adjusted, s.Transport, s.ToolTransport, s.Budgets, limit(s.MaxTurns), limit(s.MaxCalls),
		s.AllOrNothing,
	})
}

// UnmarshalJSON replaces s: what the JSON does not name has the value of [DefaultSet]. It is as strict as that of [Layer]. It checks
// types and no values: see [Set.Validate].
func (s *Set) UnmarshalJSON(data []byte) error {
	d := DefaultSet()
	w := wireSet{Budgets: d.Budgets, MaxTurns: limit(d.MaxTurns), MaxCalls: limit(d.MaxCalls)}
	if err := read(data, w.slots()); err != nil {
		return err
	}
	*s = Set{
		w.Global, w.Tools, w.Answer, w.Call, w.Adjusted, w.Transport, w.ToolTransport, w.Budgets, int(w.MaxTurns), int(w.MaxCalls),
		w.AllOrNothing,
	}
	return nil
}

// convert turns durations into their wire type and back; nil stays nil.
func convert[To, From ~int64](bases map[fault.Class]From) map[fault.Class]To {
	if bases == nil {
		return nil
	}
	out := make(map[fault.Class]To, len(bases))
	for _, class := range slices.Sorted(maps.Keys(bases)) {
		out[class] = To(bases[class])
	}
	return out
}
