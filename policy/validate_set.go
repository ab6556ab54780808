package policy

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
)

// Validate reports every field of the set that makes no sense, each as a [*FieldError], joined; nil when there is none.
// It also resolves every action and reports layers that do not fit together.
func (s Set) Validate() error {
	f := &faults{}
	var tools []string
	if len(s.Tools) > 0 {
		tools = slices.Sorted(maps.Keys(s.Tools))
	}
	f.nest(LayerGlobal+".", s.Global.validate())
	for _, tool := range tools {
		if tool == "" {
			f.add("tools", "a tool without a name; use the name it is registered under")
		}
		if err := s.Tools[tool].Validate(); err != nil {
			f.nest("tools."+tool+".", err)
		}
	}
	f.nest(LayerAnswer+".", s.Answer.validate())
	f.nest(LayerCall+".", s.Call.validate())
	f.nest(LayerAdjusted+".", s.Adjusted.validate())
	f.nest(LayerTransport+".", s.Transport.validate())
	s.Transport.checkTransportFields(f, LayerTransport)
	if len(s.ToolTransport) > 0 {
		s.checkToolTransport(f)
	}
	f.nest("budgets.", s.Budgets.Validate())
	if s.MaxTurns < 1 && s.MaxTurns != Unlimited {
		f.add("max_turns", "%d is no number of model calls; write 1 or more, or \"unlimited\"", s.MaxTurns)
	}
	if s.MaxCalls < 1 && s.MaxCalls != Unlimited {
		f.add("max_calls", "%d is no number of calls in a reply; write 1 or more, or \"unlimited\"", s.MaxCalls)
	}
	s.checkTogether(f, tools)
	return errors.Join(f.all...)
}

// Adjust is [Fold] for a layer that nobody has looked at: what comes of it is good wherever s is. The error names each field of the layer
// that makes no sense, alone or over the layers of s, as a [*FieldError], joined; the set is then s.
func Adjust(s Set, adjustment Layer) (Set, error) {
	if err := adjustment.validate(); err != nil {
		return s, err
	}
	next := Fold(s, adjustment)
	err := next.Validate()
	if err == nil {
		return next, nil
	}
	f := &faults{}
	switch {
	case adjustment.Backoff != nil && !basesFit(anyBases, adjustment.Backoff):
		f.add("backoff", "a list of delays has no base, and there are bases in force (%s); use another kind of backoff, or set bases to none beside it", firstPath(err))
	case len(adjustment.Bases) > 0:
		f.add("bases", "the backoff in force (%s) is a list of delays and has no base to replace; set another kind of backoff beside them", firstPath(err))
	default:
		return s, err
	}
	return s, errors.Join(f.all...)
}

// anyBases stands for bases of any class. Read-only.
var anyBases = map[fault.Class]time.Duration{fault.Timeout: 0}

// firstPath is where the first of the field errors was found.
func firstPath(err error) string {
	var first *FieldError
	errors.As(err, &first)
	return first.Path
}

// checkToolTransport checks the transport layers of tools, and whether they fit over that of the set.
func (s *Set) checkToolTransport(f *faults) {
	below := s.layersOfTransport()
	for _, tool := range slices.Sorted(maps.Keys(s.ToolTransport)) {
		own := s.ToolTransport[tool]
		path := LayerToolTransport + "." + tool
		if tool == "" {
			f.add(LayerToolTransport, "a tool without a name; use the name it is registered under")
		}
		f.nest(path+".", own.validate())
		own.checkTransportFields(f, path)
		if layers := s.layersOfToolTransport(tool); misfit(layers[:]) && !misfit(below[:]) {
			f.add(path+".bases", basesOnList)
		}
	}
}

// checkTransportFields refuses fields that say nothing about a request that did not come through.
func (l *Layer) checkTransportFields(f *faults, path string) {
	if (l.EmitFeedback == nil || !*l.EmitFeedback) && l.saysNothingToModels() {
		return
	}
	own := *l
	for _, field := range fields {
		if field.correctionOnly && field.set(&own) {
			f.add(path+"."+field.name, "has no meaning for transport; leave it out")
		}
	}
	if e := l.EmitFeedback; e != nil && *e {
		f.add(path+".emit_feedback", "the model is never told of transport faults; leave it out")
	}
}

// saysNothingToModels reports whether l has none of the fields that are for the correction plane only.
func (l *Layer) saysNothingToModels() bool {
	return l.NoProgress == nil && l.TextRepairs == "" && l.NativeRepairs == "" && l.FormsOff == nil && l.OnReducerError == ""
}

// checkTogether reports what only shows once the layers lie over one another. What one layer has wrong by itself, or what
// is wrong for the final answer already, is not reported again for each tool.
func (s *Set) checkTogether(f *faults, tools []string) {
	if layers := s.layersOfTransport(); misfit(layers[:]) {
		f.add("transport.bases", basesOnList)
	}
	if layers := s.layersOf(""); misfit(layers[:]) {
		f.add("answer.bases", basesOnList)
		return
	}
	if layers := (&Set{Global: s.Global, Call: s.Call, Adjusted: s.Adjusted}).layersOf(""); misfit(layers[:]) {
		f.add("global.bases", basesOnList)
		return
	}
	for _, tool := range tools {
		if layers := s.layersOf(tool); misfit(layers[:]) {
			f.add("tools."+tool+".bases", basesOnList)
		}
	}
}

// misfit reports whether layers that are each good alone make a policy whose bases have nothing to replace.
func misfit(layers []named) bool {
	if p := merge(layers); basesFit(p.Bases, &p.Backoff) {
		return false
	}
	return !slices.ContainsFunc(layers, func(n named) bool {
		return n.layer.Backoff != nil && !basesFit(n.layer.Bases, n.layer.Backoff)
	})
}

// Validate reports every budget that makes no sense, each as a [*FieldError], joined; nil when there is none.
func (b Budgets) Validate() error {
	f := &faults{}
	for _, budget := range []struct {
		path string
		n    int
	}{{"tool", b.Tool}, {"run", b.Run}, {"unknown_tools", b.UnknownTools}} {
		if budget.n < 0 && budget.n != Unlimited {
			f.add(budget.path, "%d is no budget; write 0 for no retry, a count, or \"unlimited\"", budget.n)
		}
	}
	return errors.Join(f.all...)
}
