package policy

import (
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/fields"
)

// FieldError is one fault of one field of a policy: its path, as files name it, and what is wrong. The path
// is empty if the fault concerns the whole value.
type FieldError = backoff.FieldError

// Validate reports every invalid field, each as a [*FieldError], joined. It returns nil if there is none.
func (p RetryPolicy) Validate() error {
	l, f := p.Layer(), fields.Collect()
	for n, field := range layerFields {
		if !fields.Says(&l, n) {
			f.At(field.Name).Add("is missing; start from a preset, or from Set.Policy")
		}
	}
	l.check(f)
	return fields.Err[FieldError](f)
}

// Validate reports every invalid field of the layer, each as a [*FieldError], joined. It returns nil if there
// is none.
func (l Layer) Validate() error { return faultsOf(l.check) }

// faultsOf returns what a check finds.
func faultsOf(check func(fields.Faults)) error {
	f := fields.Collect()
	check(f)
	return fields.Err[FieldError](f)
}

func (l Layer) check(f fields.Faults) {
	checks.Check(&l, f)
	if d := l.RetryAfterJitter; d != nil && *d > backoff.One {
		f.At("retry_after_jitter").Add("%v is not a fraction; write 0 to 1, such as 0.5", *d)
	}
	checkSettings(l.PerAttempt, f.At("attempts"))
	if l.Approval != nil {
		l.Approval.check(f.At("approval"))
	}
	if l.Backoff != nil && !basesFit(l.Bases, l.Backoff) {
		f.At("bases").Add(basesOnList)
	}
}

// Validate reports every invalid field of the set, each as a [*FieldError], joined. It returns nil if there
// is none. It also resolves every action and reports layers that do not fit together.
func (s Set) Validate() error { return faultsOf(s.check) }

func (s *Set) check(f fields.Faults) {
	checks.Check(s, f)
	s.each(func(l *Layer, key, tool string) { l.checkMeaning(f.At(key).At(tool), key, tool) })
	s.checkTogether(f)
	if s.MaxTurns == 0 && s.MaxCalls == 0 && s.Budgets == (Budgets{}) {
		f.Add("it allows no model call and no failed attempt; begin with DefaultSet, and change what should differ")
	}
}

// checkMeaning refuses the fields that have no meaning where the layer stands in a set.
func (l *Layer) checkMeaning(f fields.Faults, key, tool string) {
	for n, row := range layerFields {
		if !fields.Says(l, n) {
			continue
		}
		if problem := meaningless(key, tool, row); problem != "" && !l.asksNothing(row.Name) {
			f.At(row.Name).Add("%s", problem)
		}
	}
}

// asksNothing reports whether a field that is set may stand where it has no meaning: it gives up a time
// limit, or turns off what is off there.
func (l *Layer) asksNothing(name string) bool {
	limit := map[string]*time.Duration{"model_timeout": l.ModelTimeout, "tool_timeout": l.ToolTimeout,
		"first_token_timeout": l.FirstTokenTimeout, "idle_timeout": l.IdleTimeout}[name]
	on := map[string]*bool{"classify_words": l.ClassifyWords, "emit_feedback": l.EmitFeedback}[name]
	return limit != nil && *limit == Unlimited || on != nil && !*on
}

const basesOnList = "a list of delays has no base to replace; use another kind of backoff, or no bases"

// basesFit reports whether the strategy has a base for the bases to replace.
func basesFit(bases map[fault.Class]time.Duration, s *backoff.BackoffStrategy) bool {
	return len(bases) == 0 || s.Kind != backoff.KindList
}

// checkTogether reports faults that only show when the layers are merged. It does not repeat a fault of a
// single layer, nor report a fault of the final answer again for each tool.
func (s *Set) checkTogether(f fields.Faults) {
	transport := s.basesFault(Target{Plane: fault.Transport}, f.At(layerTransport))
	for _, tool := range canon.Keys(s.ToolTransport) {
		if !transport {
			s.basesFault(Target{fault.Transport, tool}, f.At(layerToolTransport).At(tool))
		}
	}
	shared := Set{Global: s.Global, Call: s.Call, Adjusted: s.Adjusted}
	if !shared.approvalFault(Target{}, f.At(layerGlobal)) {
		for _, tool := range canon.Keys(s.Tools) {
			s.approvalFault(Target{Tool: tool}, f.At("tools").At(tool))
		}
	}
	if s.basesFault(Target{}, f.At(layerAnswer)) || shared.basesFault(Target{}, f.At(layerGlobal)) {
		return
	}
	for _, tool := range canon.Keys(s.Tools) {
		s.basesFault(Target{Tool: tool}, f.At("tools").At(tool))
	}
}

// approvalFault reports an approval that lacks a member once the layers are merged.
func (s *Set) approvalFault(of Target, f fields.Faults) bool {
	p := merge(s.layers(of))
	member, problem := p.Approval.incomplete()
	if member != "" {
		f.At("approval").At(member).Add("%s", problem)
	}
	return member != ""
}

// basesFault reports layers that are valid alone and merge to a policy with bases but no strategy to use
// them.
func (s *Set) basesFault(of Target, f fields.Faults) bool {
	layers := s.layers(of)
	if !slices.ContainsFunc(layers, func(n named) bool { return len(n.layer.Bases) > 0 }) {
		return false
	}
	p := merge(layers)
	bad := !basesFit(p.Bases, &p.Backoff) && !slices.ContainsFunc(layers, func(n named) bool {
		return n.layer.Backoff != nil && !basesFit(n.layer.Bases, n.layer.Backoff)
	})
	if bad {
		f.At("bases").Add(basesOnList)
	}
	return bad
}

// Adjust returns s with an adjustment of the correction plane, merged over all other layers and over earlier
// adjustments, field by field. s itself does not change; if it is valid, so is the result. The error joins a
// [*FieldError] for each field of the layer that is invalid. If the layer is valid, but not merged over those
// of s, they are the fields of s that do not fit it. The returned set is then s.
func Adjust(s Set, adjustment Layer) (Set, error) {
	if err := adjustment.Validate(); err != nil {
		return s, err
	}
	next := s
	next.Adjusted = adjustment.Over(s.Adjusted)
	if err := next.Validate(); err != nil {
		return s, err
	}
	return next, nil
}
