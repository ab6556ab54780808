package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fields"
)

// The keys of a layer that are not fields of a policy. People write presets, and programs origins.
const (
	presetKey  = "preset"
	originsKey = "origins"
)

// types are the types of fields that the tags of this package name.
var types = fields.Types{
	"attempts":         fields.Count(1, "number of attempts", "1 for a single one"),
	"backoff":          strategies(),
	"bases":            fields.MapOf(fields.Duration, classProblem),
	"bound":            fields.Bound,
	"budget":           fields.Count(0, "budget", "0 for no retry, a count"),
	"budgets":          fields.Struct[Budgets](),
	"calls":            fields.Count(1, "number of calls in a reply", "1 or more"),
	"classes":          fields.Set(fields.Name(classProblem), maxClasses, "classes"),
	"forms":            fields.Set(fields.Word(extract.Forms()...), maxClasses, "forms"),
	"fraction":         part("0.5"),
	"layer":            layers(),
	"model":            fields.Name(modelProblem),
	"on_reducer_error": fields.Word(ReducerEndsAction, ReducerStopsRun),
	"repairs":          fields.Word(RepairsAccept, RepairsNote, RepairsRefuse),
	"repeats":          fields.Repeats,
	"retry_after":      fields.Word(RetryAfterFloor, RetryAfterFirst),
	"settings":         settings(),
	"temperature":      temperature(),
	"timeout":          timeout(),
	"toggle":           fields.Toggle,
	"tools":            fields.MapOf(layers(), toolProblem),
	"turns":            fields.Count(1, "number of model calls", "1 or more"),
}

func init() {
	fields.Register[Settings](types, fields.Table{})
	fields.Register[Budgets](types, fields.Table{})
	fields.RegisterAs[Layer](fields.Register[RetryPolicy](types, fields.Table{
		Also: []string{presetKey}, Hidden: []string{originsKey}, Then: finishLayer,
	}))
	fields.Register[Set](types, fields.Table{
		Then: func(r *fields.Reader, _ string, _ fields.Node, _ []fields.Member, v any) bool {
			v.(*Set).dropEmpty()
			return r.Found() == 0
		},
	})
}

func layerTable() *fields.Table { return fields.For[Layer]() }

func layers() fields.Type[Layer] {
	t := fields.Struct[Layer]()
	t.Check = Layer.check
	return t
}

func strategies() fields.Type[backoff.BackoffStrategy] {
	t := fields.Struct[backoff.BackoffStrategy]()
	t.Check = func(s backoff.BackoffStrategy, f fields.Faults) { fields.Take[backoff.FieldError](f, s.Validate()) }
	return t
}

// keepJitter is a strategy over the one of the layer below: without a jitter of its own it keeps that one's.
// So a file that only changes a delay does not make all clients wait in lockstep.
func keepJitter(top, below backoff.BackoffStrategy) backoff.BackoffStrategy {
	if top.Jitter.Kind == "" {
		top.Jitter = below.Jitter
	}
	return top
}

// timeout is a limit above 0, or unlimited.
func timeout() fields.Type[time.Duration] {
	t := fields.Bound
	t.Check = func(d time.Duration, f fields.Faults) {
		if d <= 0 && d != Unlimited {
			f.Add("%v leaves no time; write more than 0s, or \"unlimited\"", d)
		}
	}
	return t
}

// part is a fraction from 0 to 1.
func part(example string) fields.Type[backoff.Decimal] {
	t := fields.Exact(backoff.ParseDecimal, example)
	t.Check = func(d backoff.Decimal, f fields.Faults) {
		if d < 0 || d > backoff.One {
			f.Add("%v is not a fraction; write 0 to 1, such as %s", d, example)
		}
	}
	return t
}

func toolProblem(name string) string {
	if name == "" {
		return "a tool without a name; use the name it is registered under"
	}
	return ""
}

// The limits of lists of classes, and of the name of a user's class, which becomes a label in logs and
// metrics.
const (
	maxClasses = 1000
	maxClass   = 64
)

// classProblem describes what is wrong with the name of a class, or returns "". No failure has a class under
// a name of another vocabulary, so a policy that lists such a name would look right and do nothing.
func classProblem(c fault.Class) string {
	if _, built := fault.Lookup(c); built {
		return ""
	}
	if class, known := fault.ParseName(string(c)); known && class != c {
		return fmt.Sprintf("%q is another vocabulary's name for a class; write %s", c, class)
	}
	const good = "abcdefghijklmnopqrstuvwxyz0123456789_-."
	if c == "" || len(c) > maxClass || strings.Trim(string(c), good) != "" {
		return fmt.Sprintf("%q is not a valid class name; use 1 to %d of a-z, 0-9, '_', '-' and '.'", c, maxClass)
	}
	if near := nearClass(c); near != "" {
		return fmt.Sprintf("%q looks like a misspelled class; write %s, or choose another name for your own class", c, near)
	}
	return ""
}

// nearClass returns the class of package fault that a name probably misspells, or "". A misspelling keeps the
// first letter.
func nearClass(c fault.Class) string {
	var known []string
	for _, k := range append(fault.CorrectionClasses(), fault.TransportClasses()...) {
		if k[0] == c[0] {
			known = append(known, string(k))
		}
	}
	return fields.Near(string(c), known)
}

// finishLayer records where the fields of a layer were written, and merges the layer over its preset.
func finishLayer(r *fields.Reader, path string, _ fields.Node, taken []fields.Member, v any) bool {
	l, below := v.(*Layer), Layer{}
	var given []Origin
	for _, m := range taken {
		source := Source{r.File, m.At.Line, m.At.Column}
		switch m.Key {
		case originsKey:
			given = readOrigins(r, fields.Join(path, originsKey), m.Value)
			continue
		case presetKey:
		default:
			l.Origins = append(l.Origins, Origin{m.Key, source})
			continue
		}
		var name string
		if fields.Word(Presets()...).Read(r, fields.Join(path, presetKey), m.Value, &name) {
			below = schedule(name, path == LayerTransport || strings.HasPrefix(path, LayerToolTransport+"."))
		}
		for _, field := range below.Sets() {
			below.Origins = append(below.Origins, Origin{field, source})
		}
	}
	if r.File == "" {
		l.Origins, below.Origins = nil, nil
	}
	l.Origins = append(given, l.Origins...)
	*l = l.Over(below)
	return true
}

// schedule returns the fields that a preset sets in a file: those that say when to try again. The retryable
// classes stay those of the layer's plane.
func schedule(preset string, transport bool) Layer {
	p, _ := Preset(preset)
	all := p.Layer()
	l := Layer{MaxAttempts: all.MaxAttempts, Backoff: all.Backoff, Bases: all.Bases,
		RetryAfter: all.RetryAfter, RetryAfterJitter: all.RetryAfterJitter}
	if transport && slices.ContainsFunc(p.RetryableErrors, fault.Class.InTransport) {
		l.RetryableErrors = all.RetryableErrors
	}
	return l
}
