package policy

import (
	"maps"
	"slices"
)

// Equal reports whether two sets are the same value: every layer says the same and was written at the same places, and the bounds are
// the same. Safe for concurrent use, as long as neither is written to.
func (s *Set) Equal(o *Set) bool {
	return s.Budgets == o.Budgets && s.MaxTurns == o.MaxTurns && s.MaxCalls == o.MaxCalls && s.AllOrNothing == o.AllOrNothing &&
		s.Global.equal(&o.Global) && s.Answer.equal(&o.Answer) && s.Call.equal(&o.Call) && s.Adjusted.equal(&o.Adjusted) &&
		s.Transport.equal(&o.Transport) &&
		equalLayers(s.Tools, o.Tools) && equalLayers(s.ToolTransport, o.ToolTransport)
}

func equalLayers(a, b map[string]Layer) bool {
	return (a == nil) == (b == nil) && maps.EqualFunc(a, b, func(a, b Layer) bool { return a.equal(&b) })
}

func (l *Layer) equal(o *Layer) bool {
	return same(l.MaxAttempts, o.MaxAttempts) && same(l.EmitFeedback, o.EmitFeedback) && same(l.MaxRetryAfter, o.MaxRetryAfter) &&
		same(l.MaxTotalDelay, o.MaxTotalDelay) && same(l.NoProgress, o.NoProgress) && same(l.OptOut, o.OptOut) &&
		l.RetryAfter == o.RetryAfter && l.TextRepairs == o.TextRepairs && l.NativeRepairs == o.NativeRepairs &&
		l.OnReducerError == o.OnReducerError && sameList(l.RetryableErrors, o.RetryableErrors) && sameList(l.FormsOff, o.FormsOff) &&
		sameList(l.Origins, o.Origins) && (l.Bases == nil) == (o.Bases == nil) && maps.Equal(l.Bases, o.Bases) &&
		(l.Backoff == nil) == (o.Backoff == nil) && (l.Backoff == nil || l.Backoff.Equal(*o.Backoff))
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func sameList[T comparable](a, b []T) bool { return (a == nil) == (b == nil) && equalList(a, b) }

// equalList is [slices.Equal], quicker for a list and itself.
func equalList[T comparable](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// Clone is the set with all that it points to of its own.
func (s *Set) Clone() *Set {
	c := *s
	for _, l := range [...]*Layer{&c.Global, &c.Answer, &c.Call, &c.Adjusted, &c.Transport} {
		l.own()
	}
	c.Tools, c.ToolTransport = cloneLayers(c.Tools), cloneLayers(c.ToolTransport)
	return &c
}

func cloneLayers(all map[string]Layer) map[string]Layer {
	all = maps.Clone(all)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		l := all[name]
		l.own()
		all[name] = l
	}
	return all
}

// own makes all that a layer points to its own.
func (l *Layer) own() {
	l.MaxAttempts, l.NoProgress = own(l.MaxAttempts), own(l.NoProgress)
	l.EmitFeedback, l.OptOut = own(l.EmitFeedback), own(l.OptOut)
	l.MaxRetryAfter, l.MaxTotalDelay = own(l.MaxRetryAfter), own(l.MaxTotalDelay)
	if l.Backoff = own(l.Backoff); l.Backoff != nil {
		l.Backoff.Delays = slices.Clone(l.Backoff.Delays)
	}
	l.RetryableErrors, l.FormsOff, l.Origins = slices.Clone(l.RetryableErrors), slices.Clone(l.FormsOff), slices.Clone(l.Origins)
	l.Bases = maps.Clone(l.Bases)
}

func own[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
