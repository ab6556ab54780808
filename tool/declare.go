package tool

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/retake-go/retake/policy"
)

// Declared is what a tool declares of its calls. The zero value declares nothing: a call may have an effect,
// and running it twice may have two.
type Declared string

// The declarations, as they stand in records.
const (
	// DeclaredReadOnly: a call changes nothing.
	DeclaredReadOnly Declared = "read_only"
	// DeclaredIdempotent: a call that is made twice has the effect of one, by its arguments or by its
	// [IdempotencyKey].
	DeclaredIdempotent Declared = "idempotent"
)

// Option declares something of a tool, for [New] and [Raw].
type Option struct {
	declared              Declared
	correction, transport policy.Layer
}

// ReadOnly declares that a call changes nothing: it may be run again after a transport fault or a crash.
func ReadOnly() Option { return Option{declared: DeclaredReadOnly} }

// Idempotent declares that running a call twice has the effect of running it once, by its arguments or by its
// [IdempotencyKey]: it may be run again after a transport fault or a crash.
func Idempotent() Option { return Option{declared: DeclaredIdempotent} }

// WithPolicy gives the tool a layer of policy for calls that cannot be used. It lies over the global layer of
// a run's policy and beneath what that says of the tool and of the call. A run refuses one that makes no
// sense.
func WithPolicy(l policy.Layer) Option { return Option{correction: l} }

// WithTransport is [WithPolicy] for calls that do not come through: it lies over the transport layer.
func WithTransport(l policy.Layer) Option { return Option{transport: l} }

// declare takes over the options; of several that say the same the last counts.
func (t *Tool) declare(opts []Option) {
	for _, o := range opts {
		if o.declared != "" {
			t.declared = o.declared
		}
		t.correction = from("tool.WithPolicy", o.correction).Over(t.correction)
		t.transport = from("tool.WithTransport", o.transport).Over(t.transport)
	}
}

// from notes who says what a layer says, where nobody did.
func from(option string, l policy.Layer) policy.Layer {
	for _, field := range l.Sets() {
		if l.Source(field) == (policy.Source{}) {
			here := policy.Origin{Field: field, Source: policy.Source{File: option}}
			l.Origins = append(slices.Clip(l.Origins), here)
		}
	}
	return l
}

// Policy is a run's policy with what the tools say of themselves ([WithPolicy], [WithTransport]) beneath what
// it says of them. It shares what it does not change with p, which stays as it is.
func (s *Set) Policy(p policy.Set) policy.Set {
	p.Tools, p.ToolTransport = maps.Clone(p.Tools), maps.Clone(p.ToolTransport)
	for _, t := range s.All() {
		lay(&p.Tools, t.name, t.correction)
		lay(&p.ToolTransport, t.name, t.transport)
	}
	return p
}

// lay lays a layer beneath the one of that name.
func lay(layers *map[string]policy.Layer, name string, below policy.Layer) {
	if below.IsZero() {
		return
	}
	if *layers == nil {
		*layers = map[string]policy.Layer{}
	}
	(*layers)[name] = (*layers)[name].Over(below)
}

// Absent looks at the tools that a policy has layers for and that are not in the set. One whose name is near
// that of a tool here is an error; any other is a warning, for policies are shared.
func (s *Set) Absent(p *policy.Set) (warnings []string, err error) {
	var errs []error
	for _, of := range []struct {
		path   string
		layers map[string]policy.Layer
	}{{"tools", p.Tools}, {policy.LayerToolTransport, p.ToolTransport}} {
		for _, name := range slices.Sorted(maps.Keys(of.layers)) {
			if _, ok := s.Get(name); ok {
				continue
			}
			if near := nearest(s.Names(), name); near >= 0 {
				errs = append(errs, fmt.Errorf("policy: %s.%s: there is no such tool; did you mean %s?", of.path, name, s.tools[near].name))
				continue
			}
			warnings = append(warnings, fmt.Sprintf("policy: %s.%s: there is no such tool in this run", of.path, name))
		}
	}
	return warnings, errors.Join(errs...)
}

// Declared is what the tool declares of its calls.
func (t *Tool) Declared() Declared { return t.declared }

// Repeatable reports whether a call may be run again where nobody knows whether it had its effect: the tool
// is declared read-only or idempotent.
func (t *Tool) Repeatable() bool {
	return t.declared == DeclaredReadOnly || t.declared == DeclaredIdempotent
}
