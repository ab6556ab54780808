package file

import (
	"errors"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// root reads the file's one mapping: a single policy, or the layers of a set.
func (r *reader) root(n node) policy.Set {
	set := policy.DefaultSet()
	if n.kind != mapping {
		r.fault(n.at, "", "expected a mapping of keys to values, got "+string(n.kind), "write max_attempts: 3, for example")
		return set
	}
	single, layered := r.form(n)
	switch {
	case single && layered:
		r.mixed(n)
		return set
	case single:
		set.Global = r.layer("", n)
	default:
		fill(r, "", n, setKeys, &set)
	}
	r.semantics(set, single)
	return set
}

// form says which of the two forms the file's keys belong to. Where none is known, the closest decides.
func (r *reader) form(n node) (single, layered bool) {
	for _, m := range n.members {
		single = single || within(m.key, names(layerKeys))
		layered = layered || within(m.key, names(setKeys))
	}
	if single || layered {
		return single, layered
	}
	return slices.ContainsFunc(n.members, func(m member) bool { return ofPolicy(m.key) }), false
}

// mixed reports the keys of a single policy beside layers, and whatever else is wrong with the two.
func (r *reader) mixed(n node) {
	own, rest := n, n
	own.members, rest.members = nil, nil
	for _, m := range n.members {
		if ofPolicy(m.key) {
			own.members = append(own.members, m)
		} else {
			rest.members = append(rest.members, m)
		}
		if within(m.key, names(layerKeys)) {
			r.fault(m.at, m.key, "a policy's key stands beside layers or bounds of the run", "put it under global:")
		}
	}
	layers, single := policy.DefaultSet(), policy.DefaultSet()
	fill(r, "", rest, setKeys, &layers)
	r.semantics(layers, false)
	single.Global = r.layer("", own)
	r.semantics(single, true)
}

// ofPolicy reports whether a key is, or was meant to be, that of a single policy.
func ofPolicy(key string) bool {
	switch {
	case within(key, names(layerKeys)):
		return true
	case within(key, names(setKeys)):
		return false
	}
	return strings.HasPrefix(suggest(key, names(layerKeys)), "did you mean") || foreign[key] != ""
}

// layer reads one layer, with its preset below it, and remembers where each field was written.
func (r *reader) layer(path string, n node) policy.Layer {
	var d draft
	var origins, presets []policy.Origin
	for _, m := range fill(r, path, n, layerKeys, &d) {
		source := policy.Source{File: r.name, Line: m.at.line, Column: m.at.column}
		if m.key != presetKey {
			origins = append(origins, policy.Origin{Field: m.key, Source: source})
			continue
		}
		for _, f := range policy.Fields() {
			presets = append(presets, policy.Origin{Field: f, Source: source})
		}
	}
	d.Origins = origins
	if d.preset == "" {
		return d.Layer
	}
	below := schedule(d.preset, path == transportKey || strings.HasPrefix(path, toolTransportKey+"."))
	below.Origins = presets
	return d.Layer.Over(below)
}

// schedule is what a preset says in a file: when to try again. What is retried stays with the plane the layer is for.
func schedule(preset string, transport bool) policy.Layer {
	p, _ := policy.Preset(preset)
	all := p.Layer()
	l := policy.Layer{MaxAttempts: all.MaxAttempts, Backoff: all.Backoff, Bases: all.Bases, RetryAfter: all.RetryAfter}
	if transport && slices.ContainsFunc(p.RetryableErrors, fault.Class.InTransport) {
		l.RetryableErrors = all.RetryableErrors
	}
	return l
}

// tools reads a mapping of tool names to layers.
func (r *reader) tools(path string, n node) map[string]policy.Layer {
	all := map[string]policy.Layer{}
	for _, m := range r.mapping(path, n) {
		if full := join(path, m.key); r.hasValue(full, m.value) {
			all[m.key] = r.layer(full, m.value)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// semantics reports what can be read and still makes no sense, unless the same value is at fault already.
func (r *reader) semantics(set policy.Set, single bool) {
	known := map[string]place{}
	for _, f := range r.faults {
		known[f.Path] = place{f.Line, f.Column}
	}
	for _, err := range leaves(set.Validate()) {
		var wrong *policy.FieldError
		if !errors.As(err, &wrong) {
			r.fault(place{1, 1}, "", err.Error(), "")
			continue
		}
		path := wrong.Path
		if single {
			path = strings.TrimPrefix(strings.TrimPrefix(path, "global."), "answer.")
		}
		if at := r.nearest(path); known[shownPath(path)] != at {
			message, hint, _ := strings.Cut(wrong.Problem, "; ")
			r.fault(at, path, message, hint)
		}
	}
}

// nearest is where the value of the path stands, or of the closest one around it that was written.
func (r *reader) nearest(path string) place {
	for path != "" {
		if at, ok := r.places[path]; ok {
			return at
		}
		path = parent(path)
	}
	return place{1, 1}
}

// leaves are the errors that were joined.
func leaves(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// within reports whether the word is in one of the lists.
func within(word string, lists ...[]string) bool {
	return slices.ContainsFunc(lists, func(l []string) bool { return slices.Contains(l, word) })
}
