package eino

import (
	"encoding/json"
	"fmt"

	einoschema "github.com/cloudwego/eino/schema"

	"github.com/retake-go/retake/adapter/kit/turns"
)

// offered returns the tools of a model call. The error names a tool with an invalid schema.
func (a *Adapter) offered(infos []*einoschema.ToolInfo) ([]turns.Offered, error) {
	all := make([]turns.Offered, 0, len(infos))
	for _, info := range infos {
		parameters, err := parametersOf(info)
		if err != nil {
			return nil, fmt.Errorf("retake: tool %q: parameters: %w", info.Name, err)
		}
		all = append(all, turns.Offered{Name: info.Name, Description: info.Desc,
			Parameters: string(parameters)})
	}
	turns.Declare(all, a.cfg.ReadOnly, a.cfg.Idempotent)
	return all, nil
}

// parametersOf returns the JSON Schema of the arguments; nil for none.
func parametersOf(info *einoschema.ToolInfo) ([]byte, error) {
	if info.ParamsOneOf == nil {
		return nil, nil
	}
	schema, err := info.ParamsOneOf.ToJSONSchema()
	if err != nil {
		return nil, err
	}
	return json.Marshal(schema)
}
