package tool

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/fields"
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

// Option declares something of a tool, for [New] and [Raw]. Of several for the same setting the last counts.
type Option func(*declarations)

// declarations are what a tool declares.
type declarations struct {
	declared Declared
	// correction and transport are the layers that the tool has of its own.
	correction, transport policy.Layer
	// needs reports whether a call needs approval, and takes is the type of arguments that it takes; may be
	// nil.
	needs func(args []byte) bool
	takes reflect.Type
	// answers reports that a result is the answer of the run.
	answers bool
}

// declare returns what the options of a tool declare. The error says that it has no function, or that an
// option is nil or not for its type of arguments.
func declare(isNil bool, args reflect.Type, opts []Option) (declarations, error) {
	var d declarations
	for n, o := range opts {
		if o == nil {
			return d, fmt.Errorf("option %d is nil: leave it out", n+1)
		}
		o(&d)
	}
	switch {
	case isNil:
		return d, errors.New("the function is nil")
	case d.takes != nil && d.takes != args:
		return d, fmt.Errorf("NeedsApproval takes %v: make it take %v", d.takes, args)
	}
	return d, nil
}

// ReadOnly declares that a call changes nothing: it may be run again after a transport fault or a crash.
func ReadOnly() Option { return func(d *declarations) { d.declared = DeclaredReadOnly } }

// Idempotent declares that running a call twice has the effect of running it once, by its arguments or by its
// [IdempotencyKey]: it may be run again after a transport fault or a crash.
func Idempotent() Option { return func(d *declarations) { d.declared = DeclaredIdempotent } }

// Answers declares that a result of the tool is the answer of the run: the run ends with it, once the calls
// of the reply have ended, and the model is not asked again. Of several such results the first in the reply
// is the answer. A call that fails ends nothing. Nor does a result if the user has said something meanwhile,
// or if the run wants a structured answer, which only its model can give in that form: the model is then
// told the result.
func Answers() Option { return func(d *declarations) { d.answers = true } }

// Identity declares that calls of the tool are the same if these arguments are, top-level members by name:
// what else differs, such as a time or a comment, does not make a repeated call another one. It sets identity
// of the tool's policy; see [policy.Progress].
func Identity(arguments ...string) Option {
	return own("tool.Identity", policy.Layer{Identity: slices.Clone(arguments)})
}

// Polling declares that calls of the tool look whether something has happened, and that it is enough to look
// so often: such calls are never taken for a loop, and the same call that comes earlier waits. It sets
// polling of the tool's policy.
func Polling(every time.Duration) Option {
	return own("tool.Polling", policy.Layer{Polling: &every})
}

// NeedsApproval declares which calls of the tool wait until a person approves them: those for whose arguments
// needs returns true. A is the type of the tool's arguments, [encoding/json.RawMessage] for a tool of [Raw];
// New panics at another type. needs must be a pure function that is safe for concurrent use. A call for which
// it panics needs approval. The approval of the tool's policy says what else does: see [policy.Approval].
// Who is asked, and how they answer, says loop.WithApprover; without an answer the call waits until the
// deadline of the question or the run.
func NeedsApproval[A any](needs func(args A) bool) Option {
	ofJSON := func(args []byte) bool {
		a := new(A)
		if raw, is := any(a).(*json.RawMessage); is {
			*raw = slices.Clone(args)
		} else if err := canon.Unmarshal(args, a); err != nil {
			return true
		}
		return needs(*a)
	}
	return func(d *declarations) { d.takes, d.needs = reflect.TypeFor[A](), ofJSON }
}

// Approval declares which calls of the tool wait until a person approves them, and for how long: see
// [NeedsApproval]. It sets approval of the tool's policy.
func Approval(a policy.Approval) Option {
	return own("tool.Approval", policy.Layer{Approval: &a})
}

// WithPolicy gives the tool a policy layer for calls that cannot be used. The layer overrides the global
// layer of a run's policy. What the run's policy says of this tool or call overrides the layer. A run refuses
// a layer that makes no sense.
func WithPolicy(l policy.Layer) Option { return own("tool.WithPolicy", l) }

// WithTransport is [WithPolicy] for calls that do not come through: it overrides the transport layer.
func WithTransport(l policy.Layer) Option {
	return func(d *declarations) { d.transport = from("tool.WithTransport", l).Over(d.transport) }
}

// own lays what an option says over the tool's layer for calls that cannot be used.
func own(option string, l policy.Layer) Option {
	return func(d *declarations) { d.correction = from(option, l).Over(d.correction) }
}

// from notes the option as the source of a layer's fields that have none.
func from(option string, l policy.Layer) policy.Layer {
	said := l.Origins
	l.Origins = map[string]policy.Source{}
	for _, field := range l.Sets() {
		l.Origins[field] = cmp.Or(said[field], policy.Source{File: option})
	}
	return l
}

// Policy returns a run's policy with the layers of the tools themselves ([WithPolicy], [WithTransport]) below
// the layers it has for these tools. p is not changed; the result shares its other parts.
func (s *Set) Policy(p policy.Set) policy.Set {
	p.Tools, p.ToolTransport = maps.Clone(p.Tools), maps.Clone(p.ToolTransport)
	for _, t := range s.All() {
		lay(&p.Tools, t.name, t.correction)
		lay(&p.ToolTransport, t.name, t.transport)
	}
	return p
}

// lay puts a layer below the one of that name.
func lay(layers *map[string]policy.Layer, name string, below policy.Layer) {
	if below.IsZero() {
		return
	}
	if *layers == nil {
		*layers = map[string]policy.Layer{}
	}
	(*layers)[name] = (*layers)[name].Over(below)
}

// Absent finds the tools that a policy has layers for but the set does not have. A name close to that of a
// tool in the set is an error. Any other is a warning, since several programs may share a policy.
func (s *Set) Absent(p *policy.Set) (warnings []string, err error) {
	var errs []error
	for _, of := range []struct {
		path   string
		layers map[string]policy.Layer
	}{{"tools", p.Tools}, {"tool_transport", p.ToolTransport}} {
		for _, name := range canon.Keys(of.layers) {
			if _, ok := s.Get(name); ok {
				continue
			}
			if near := fields.Nearest(name, s.Names()); near >= 0 {
				errs = append(errs, fmt.Errorf("policy: %s.%s: there is no such tool; did you mean %s?",
					of.path, name, s.tools[near].name))
				continue
			}
			warnings = append(warnings,
				fmt.Sprintf("policy: %s.%s: there is no such tool in this run", of.path, name))
		}
	}
	return warnings, errors.Join(errs...)
}

// Declared returns what the tool declares of its calls.
func (t *Tool) Declared() Declared { return t.declared }

// Repeatable reports whether a call may be run again although nobody knows whether it had its effect: the
// tool is declared read-only or idempotent.
func (t *Tool) Repeatable() bool {
	return t.declared == DeclaredReadOnly || t.declared == DeclaredIdempotent
}

// Answers reports whether a result of the tool is the answer of a run: see the option [Answers].
func (t *Tool) Answers() bool { return t.answers }

// NeedsApproval reports whether the tool itself wants a call with these arguments approved: see the option
// [NeedsApproval]. The arguments are JSON that passed the check.
func (t *Tool) NeedsApproval(args []byte) (needs bool) {
	if t.needs == nil {
		return false
	}
	needs = true // if it panics
	defer func() { _ = recover() }()
	return t.needs(args)
}
