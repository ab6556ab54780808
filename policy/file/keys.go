package file

import (
	"time"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// draft is a layer while it is read.
type draft struct {
	policy.Layer
	// preset names the preset that lies below the layer; empty for none.
	preset string
}

// presetKey is the one key of a layer that is no field of a policy.
const presetKey = "preset"

var layerKeys = []key[draft]{
	{presetKey, func(r *reader, path string, n node, l *draft) { l.preset = r.word(path, n, policy.Presets()) }},
	{"max_attempts", func(r *reader, path string, n node, l *draft) { l.MaxAttempts = some(r.bound(path, n, 1)) }},
	{"backoff", func(r *reader, path string, n node, l *draft) { l.Backoff = some(r.strategy(path, n)) }},
	{"retryable_errors", func(r *reader, path string, n node, l *draft) {
		l.RetryableErrors, _ = list(r, path, n, wordsOf[fault.Class](r))
	}},
	{"emit_feedback", func(r *reader, path string, n node, l *draft) { l.EmitFeedback = some(r.boolean(path, n)) }},
	{"bases", func(r *reader, path string, n node, l *draft) { l.Bases = r.bases(path, n) }},
	{"retry_after", func(r *reader, path string, n node, l *draft) {
		l.RetryAfter = known(r, path, n, policy.Floor, policy.First)
	}},
	{"max_retry_after", func(r *reader, path string, n node, l *draft) {
		l.MaxRetryAfter = some(r.durationBound(path, n))
	}},
	{"max_total_delay", func(r *reader, path string, n node, l *draft) {
		l.MaxTotalDelay = some(r.durationBound(path, n))
	}},
	{"no_progress", func(r *reader, path string, n node, l *draft) { l.NoProgress = some(r.repeats(path, n)) }},
	{"opt_out", func(r *reader, path string, n node, l *draft) { l.OptOut = some(r.boolean(path, n)) }},
	{"text_repairs", func(r *reader, path string, n node, l *draft) {
		l.TextRepairs = known(r, path, n, policy.Accept, policy.Note, policy.Refuse)
	}},
	{"native_repairs", func(r *reader, path string, n node, l *draft) {
		l.NativeRepairs = known(r, path, n, policy.Accept, policy.Note, policy.Refuse)
	}},
	{"forms_off", func(r *reader, path string, n node, l *draft) {
		l.FormsOff, _ = list(r, path, n, func(path string, n node) (extract.Form, bool) {
			form := known(r, path, n, extract.Forms()...)
			return form, form != ""
		})
	}},
	{"on_reducer_error", func(r *reader, path string, n node, l *draft) {
		l.OnReducerError = known(r, path, n, policy.EndAction, policy.StopRun)
	}},
}

var budgetKeys = []key[policy.Budgets]{
	{"tool", func(r *reader, path string, n node, b *policy.Budgets) { b.Tool, _ = r.bound(path, n, 0) }},
	{"run", func(r *reader, path string, n node, b *policy.Budgets) { b.Run, _ = r.bound(path, n, 0) }},
	{"unknown_tools", func(r *reader, path string, n node, b *policy.Budgets) { b.UnknownTools, _ = r.bound(path, n, 0) }},
}

var setKeys = []key[policy.Set]{
	{"global", func(r *reader, path string, n node, s *policy.Set) { s.Global = r.layer(path, n) }},
	{"tools", func(r *reader, path string, n node, s *policy.Set) { s.Tools = r.tools(path, n) }},
	{"answer", func(r *reader, path string, n node, s *policy.Set) { s.Answer = r.layer(path, n) }},
	{"call", func(r *reader, path string, n node, s *policy.Set) { s.Call = r.layer(path, n) }},
	{transportKey, func(r *reader, path string, n node, s *policy.Set) { s.Transport = r.layer(path, n) }},
	{toolTransportKey, func(r *reader, path string, n node, s *policy.Set) { s.ToolTransport = r.tools(path, n) }},
	{"budgets", func(r *reader, path string, n node, s *policy.Set) { fill(r, path, n, budgetKeys, &s.Budgets) }},
	{"max_turns", func(r *reader, path string, n node, s *policy.Set) { r.boundTo(&s.MaxTurns, path, n) }},
	{"max_calls", func(r *reader, path string, n node, s *policy.Set) { r.boundTo(&s.MaxCalls, path, n) }},
	{"all_or_nothing", func(r *reader, path string, n node, s *policy.Set) { s.AllOrNothing, _ = r.boolean(path, n) }},
}

// boundTo reads a bound of 1 or more; where it cannot be read, what stands there stays.
func (r *reader) boundTo(to *int, path string, n node) {
	if v, ok := r.bound(path, n, 1); ok {
		*to = v
	}
}

// The keys of layers of the transport plane.
const transportKey, toolTransportKey = "transport", "tool_transport"

// some is a pointer to what was read, nil where it could not be.
func some[T any](v T, ok bool) *T {
	if !ok {
		return nil
	}
	return &v
}

// known reads one of the words; "" where it could not be.
func known[S ~string](r *reader, path string, n node, all ...S) S {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	return S(r.word(path, n, words))
}

// wordsOf reads any text as a word; what it may be is checked later.
func wordsOf[S ~string](r *reader) func(path string, n node) (S, bool) {
	return func(path string, n node) (S, bool) {
		if n.kind != text {
			r.expected(path, n, "a name")
		}
		return S(n.text), n.kind == text
	}
}

// repeatsRight says what may stand for no_progress.
const repeatsRight = "write off, or 1 or more"

// repeats reads no_progress: off, true, or a count of 1 or more.
func (r *reader) repeats(path string, n node) (int, bool) {
	switch {
	case n.kind == text && n.text == "off", n.kind == boolean && n.text == "false":
		return 0, true
	case n.kind == boolean:
		return 1, true
	case n.kind != number:
		r.expected(path, n, "off, true or a count")
		return 0, false
	}
	v, ok := r.count(path, n, repeatsRight)
	if ok && v == 0 {
		r.fault(n.at, path, "0 is no number of repeats", repeatsRight)
	}
	return v, ok && v > 0
}

// bases reads a mapping of classes to durations.
func (r *reader) bases(path string, n node) map[fault.Class]time.Duration {
	all := map[fault.Class]time.Duration{}
	for _, m := range r.mapping(path, n) {
		if full := join(path, m.key); r.hasValue(full, m.value) {
			all[fault.Class(m.key)], _ = r.duration(full, m.value)
		}
	}
	return all
}
