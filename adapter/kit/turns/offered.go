package turns

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/retake-go/retake/tool"
)

// Offered is a tool of a model call. Parameters is the JSON Schema of its arguments; empty means any
// object.
type Offered struct {
	Name, Description, Parameters string
	// Declared is whether its calls may be repeated: see [Declare].
	Declared tool.Declared
}

// Declare marks the tools that are read-only or idempotent, by name.
func Declare(all []Offered, readOnly, idempotent []string) {
	for n := range all {
		switch {
		case slices.Contains(readOnly, all[n].Name):
			all[n].Declared = tool.DeclaredReadOnly
		case slices.Contains(idempotent, all[n].Name):
			all[n].Declared = tool.DeclaredIdempotent
		}
	}
}

// Shelf caches the tools of a run, so that each schema is compiled once. The zero value is empty. It is
// safe for concurrent use.
type Shelf struct {
	mu    sync.Mutex
	tools map[Offered]*tool.Tool
}

// Set returns the tools of one model call. The error names a tool with an invalid schema.
func (s *Shelf) Set(offered []Offered) (*tool.Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*tool.Tool, 0, len(offered))
	for _, o := range offered {
		t, err := s.get(o)
		if err != nil {
			return nil, fmt.Errorf("retake: %w", err)
		}
		all = append(all, t)
	}
	set, err := tool.NewSet(all...)
	if err != nil {
		return nil, fmt.Errorf("retake: %w", err)
	}
	return set, nil
}

func (s *Shelf) get(o Offered) (*tool.Tool, error) {
	if t, ok := s.tools[o]; ok {
		return t, nil
	}
	t, err := o.tool()
	if err != nil {
		return nil, err
	}
	if s.tools == nil {
		s.tools = map[Offered]*tool.Tool{}
	}
	s.tools[o] = t
	return t, nil
}

type doKey struct{}

// tool returns a tool for the core: its schema, and a function that runs it by the context.
func (o Offered) tool() (*tool.Tool, error) {
	parameters := o.Parameters
	if parameters == "" {
		parameters = `{"type":"object"}`
	}
	var declared []tool.Option
	switch o.Declared {
	case tool.DeclaredReadOnly:
		declared = append(declared, tool.ReadOnly())
	case tool.DeclaredIdempotent:
		declared = append(declared, tool.Idempotent())
	}
	return tool.Raw(o.Name, o.Description, []byte(parameters),
		func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			do, _ := ctx.Value(doKey{}).(func(context.Context, json.RawMessage) (json.RawMessage, error))
			return do(ctx, args)
		}, declared...)
}
