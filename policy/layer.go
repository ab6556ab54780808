package policy

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fields"
)

// layerFields are the fields of a policy, in their order.
var layerFields = fields.Of[Layer]()

// Sets returns the names of the fields that l sets, in the order of [RetryPolicy].
func (l Layer) Sets() []string {
	var names []string
	for n, row := range layerFields {
		if fields.Says(&l, n) {
			names = append(names, row.Name)
		}
	}
	return names
}

// IsZero reports whether l sets no field.
func (l *Layer) IsZero() bool {
	for n := range layerFields {
		if fields.Says(l, n) {
			return false
		}
	}
	return true
}

// Clone returns a copy that shares no memory with l.
func (l Layer) Clone() Layer { return fields.Clone(l) }

// Over returns l merged over below: a field that l sets wins. The result shares slices and maps with both.
func (l Layer) Over(below Layer) Layer {
	merged := below
	merged.Origins = nil
	if l.Progress != nil && below.Progress != nil {
		l.Progress = new(l.Progress.over(*below.Progress))
	}
	if l.Approval != nil && below.Approval != nil {
		l.Approval = new(l.Approval.over(*below.Approval))
	}
	if fields.Over(&merged, &l); l.Backoff != nil && below.Backoff != nil {
		merged.Backoff = new(keepJitter(*l.Backoff, *below.Backoff))
		if l.Backoff.Jitter.Kind == "" { // a jitter of l itself is for Validate to judge
			fitJitter(merged.Backoff)
		}
	}
	for n, row := range layerFields {
		from := &below
		if fields.Says(&l, n) {
			from = &l
		}
		if s := from.Origins[row.Name]; s != (Source{}) && fields.Says(from, n) {
			merged.noteOrigin(row.Name, s)
		}
	}
	return merged
}

// MarshalJSON writes the fields that l sets, in the order of [RetryPolicy], and where they were written.
func (l Layer) MarshalJSON() ([]byte, error) {
	data, err := fields.JSON(&l, nil)
	if err != nil {
		return nil, err
	}
	return append(append(data[:len(data)-1], l.originsJSON()...), '}'), nil
}

// UnmarshalJSON replaces l with the layer in the JSON. It refuses unknown, duplicate and null members; the
// error joins all faults, each a [*FieldError], and leaves l unchanged. It checks types but not values: see
// [Layer.Validate].
func (l *Layer) UnmarshalJSON(data []byte) error {
	var read Layer
	f := fields.Collect()
	if read.read(data, f, ""); f.Found() > 0 {
		f.Besides(read.check)
		return fields.Err[FieldError](f)
	}
	*l = read
	return nil
}

// The keys of a layer that are not fields of a policy. People write presets, and programs origins.
const (
	presetKey  = "preset"
	originsKey = "origins"
)

// read reads a layer over its preset. key is the key of a set that it stands under; empty if it stands alone.
func (l *Layer) read(data []byte, f fields.Faults, key string) {
	var below Layer
	transport := key == layerTransport || key == layerToolTransport
	idle := func(row fields.Field) bool { return meaningless(key, "", row) != "" }
	fields.Reader{Keys: []string{presetKey}, Idle: idle, Also: func(name string, v jsontext.Value, f fields.Faults) bool {
		switch name {
		case presetKey:
			below = schedule(v, f, transport)
		case originsKey:
			l.readOrigins(v, f)
		}
		return name == presetKey || name == originsKey
	}}.Read(data, l, f)
	*l = l.Over(below)
}

// ofModelCalls are the fields that mean something for model calls and tries alone.
var ofModelCalls = []string{"model_timeout", "first_token_timeout", "idle_timeout", "classify_words"}

// meaningless says why a field has no meaning in a layer under a key of a set, and what to do instead; empty
// if it has one. A layer that stands alone has no key, and all of its fields a meaning.
func meaningless(key, tool string, row fields.Field) string {
	ofModels := slices.Contains(ofModelCalls, row.Name)
	transport := key == layerTransport || key == layerToolTransport
	switch {
	case key == "":
	case transport && row.CorrectionOnly:
		return "has no meaning for transport; leave it out"
	case transport && row.Name == "emit_feedback":
		return "the model is not told about transport faults; leave it out"
	case key == layerToolTransport && ofModels:
		return "has no meaning for tools; write it under transport"
	case transport:
	case ofModels:
		return "has no meaning for corrections; write it under transport"
	case key == layerTools && row.Name == "tool_timeout":
		return "has no meaning for corrections; write it under tool_transport." + tool + " (in Go also tool.WithTransport)"
	case row.Name == "tool_timeout":
		return "has no meaning for corrections; write it under transport, or under tool_transport.NAME"
	case key == layerAnswer && row.CallsOnly:
		return "has no meaning for an answer; write it under tools.NAME, or under global"
	}
	return ""
}

// schedule returns the fields that a preset sets in a file: those that say when to try again. The retryable
// classes stay those of the layer's plane.
func schedule(v jsontext.Value, f fields.Faults, transport bool) Layer {
	var name string
	if fields.Word(v, &name, Presets(), f); name == "" {
		return Layer{}
	}
	p, _ := Preset(name)
	all := p.Layer()
	l := Layer{MaxAttempts: all.MaxAttempts, Backoff: all.Backoff, Bases: all.Bases,
		RetryAfter: all.RetryAfter, RetryAfterJitter: all.RetryAfterJitter}
	ofTransport := func(c fault.Class) bool { return c.Plane() == fault.Transport }
	if transport && slices.ContainsFunc(p.RetryableErrors, ofTransport) {
		l.RetryableErrors = all.RetryableErrors
	}
	return l
}
