package temporal

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// output is the schema of a structured answer. A Go type has rules that JSON Schema cannot express, so the
// worker checks answers with the type in its [Worker].Outputs.
type output struct {
	// Schema is the JSON Schema. A model call leaves it out if the worker has the type.
	Schema json.RawMessage `json:"schema,omitempty"`
	// SchemaDigest is the digest of the schema's text.
	SchemaDigest string `json:"schema_digest"`
	// Type is the name of the Go type, and Digest that of all its rules. Both are empty for a schema
	// without a type.
	Type   string `json:"type,omitempty"`
	Digest string `json:"digest,omitempty"`
	// MaxBytes, MaxDepth and MaxValues are the limits of the schema; no MaxValues is the default.
	MaxBytes  int `json:"max_bytes"`
	MaxDepth  int `json:"max_depth"`
	MaxValues int `json:"max_values,omitempty"`
}

// outputOf converts a schema; nil stays nil.
func outputOf(s *schema.Schema) *output {
	if s == nil {
		return nil
	}
	o := &output{
		Schema: s.JSON(), SchemaDigest: journal.SchemaDigest(s.JSON()), Type: s.Type(),
		MaxBytes: s.Limits().MaxBytes, MaxDepth: s.Limits().MaxDepth,
	}
	if o.Type != "" {
		o.Digest = s.Digest()
	}
	return o
}

// short returns the output for a model call.
func (o *output) short() *output {
	if o == nil || o.Type == "" {
		return o
	}
	own := *o
	own.Schema = nil
	return &own
}

// outputSchema returns the schema that answers are checked with; nil if the answer is any text. The error
// names a type that the worker lacks.
func (a *agent) outputSchema(o *output) (s *schema.Schema, err error) {
	if o == nil {
		return nil, nil
	}
	if o.Type == "" {
		s, err = schema.Compile(o.Schema)
	} else {
		s, err = a.registered(o)
	}
	if err == nil {
		s, err = s.WithLimits(o.limits())
	}
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	return s, nil
}

func (o *output) limits() schema.Limits {
	values := cmp.Or(o.MaxValues, schema.DefaultLimits().MaxValues)
	return schema.Limits{MaxBytes: o.MaxBytes, MaxDepth: o.MaxDepth, MaxValues: values}
}

// registered returns the worker's own schema of a Go type.
func (a *agent) registered(o *output) (*schema.Schema, error) {
	var other *schema.Schema
	for _, s := range a.Outputs {
		switch {
		case s.Digest() == o.Digest:
			return s, nil
		case s.Type() == o.Type:
			other = s
		}
	}
	switch {
	case other == nil:
		return nil, fmt.Errorf("the run needs the answer type %s, which this worker of agent %s does not "+
			"have: add it to Outputs", o.Type, a.Agent)
	case journal.SchemaDigest(other.JSON()) != o.SchemaDigest:
		return nil, fmt.Errorf("the run needs the answer type %s, which has another schema in this worker "+
			"of agent %s", o.Type, a.Agent)
	}
	return nil, fmt.Errorf("the run needs the answer type %s, which has other rules in this worker of "+
		"agent %s", o.Type, a.Agent)
}

// ownTools returns the worker's own set of the tools that a run began with. The error names a tool that is
// missing or has another schema.
func (a *agent) ownTools(tools []journal.Tool) (*tool.Set, error) {
	all := make([]*tool.Tool, len(tools))
	for n, t := range tools {
		own, err := a.tool(t.Name, t.Schema)
		if err != nil {
			return nil, err
		}
		all[n] = own
	}
	if len(all) == len(a.Tools.All()) {
		return a.Tools, nil
	}
	if len(all) == 0 {
		return nil, nil
	}
	return tool.NewSet(all...)
}

// tool returns the worker's own tool of a run.
func (a *agent) tool(name, digest string) (*tool.Tool, error) {
	t, ok := a.Tools.Get(name)
	if !ok {
		return nil, fmt.Errorf("the run needs the tool %q, which this worker of agent %s does not have: "+
			"add it to Tools", name, a.Agent)
	}
	if journal.SchemaDigest(t.Parameters()) != digest {
		return nil, fmt.Errorf("the run needs the tool %q, which has another schema in this worker of "+
			"agent %s", name, a.Agent)
	}
	return t, nil
}
