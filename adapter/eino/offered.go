package eino

import (
	"encoding/json"
	"fmt"
	"sync"

	einoschema "github.com/cloudwego/eino/schema"

	"github.com/retake-go/retake/adapter/internal/turns"
	"github.com/retake-go/retake/tool"
)

// shelf keeps the tools that a run has been offered, so that a schema is compiled once.
type shelf struct {
	mu    sync.Mutex
	tools map[string]*tool.Tool
}

func newShelf() *shelf { return &shelf{tools: map[string]*tool.Tool{}} }

// set is the tools that a model call offers. The error names the tool whose schema cannot be used.
func (s *shelf) set(infos []*einoschema.ToolInfo) (*tool.Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*tool.Tool, 0, len(infos))
	for _, info := range infos {
		t, err := s.get(info)
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

func (s *shelf) get(info *einoschema.ToolInfo) (*tool.Tool, error) {
	parameters, err := parametersOf(info)
	if err != nil {
		return nil, fmt.Errorf("tool %q: parameters: %w", info.Name, err)
	}
	key := info.Name + "\x00" + string(parameters)
	if t, ok := s.tools[key]; ok {
		return t, nil
	}
	t, err := turns.Offered(info.Name, info.Desc, parameters)
	if err == nil {
		s.tools[key] = t
	}
	return t, err
}

// parametersOf is the JSON Schema of a tool's arguments; of a tool without any, that of any object.
func parametersOf(info *einoschema.ToolInfo) ([]byte, error) {
	if info.ParamsOneOf == nil {
		return []byte(`{"type":"object"}`), nil
	}
	schema, err := info.ParamsOneOf.ToJSONSchema()
	if err != nil {
		return nil, err
	}
	return json.Marshal(schema)
}
