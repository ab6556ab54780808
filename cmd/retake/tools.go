package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/tool"
)

// toolSpec is a tool as a file describes it.
type toolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// toolForm is what a file of tools looks like.
const toolForm = `{"name", "description", "parameters"}, or a list of such objects`

// readTools reads the file of tools that a flag names.
func readTools(flag, path string) (*tool.Set, error) {
	data, err := readNamed(flag, path)
	if err != nil {
		return nil, err
	}
	specs, err := parseTools(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; a file of tools is %s", path, err, toolForm)
	}
	set, err := toolSet(specs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return set, nil
}

// parseTools reads one tool or a list of tools. Unknown members are refused: they are those of other forms.
func parseTools(data []byte) ([]toolSpec, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var specs []toolSpec
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		err := canon.UnmarshalKnown(data, &specs)
		return specs, err
	}
	var spec toolSpec
	err := canon.UnmarshalKnown(data, &spec)
	return []toolSpec{spec}, err
}

// errNotRun says that a tool of a file has no code.
var errNotRun = errors.New("a tool that is only described cannot be run")

func notRun(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errNotRun }

// toolSet makes tools that can be checked, and not run.
func toolSet(specs []toolSpec) (*tool.Set, error) {
	if len(specs) == 0 {
		return nil, errors.New("no tools: give at least one")
	}
	tools := make([]*tool.Tool, len(specs))
	var faults []error
	for n, s := range specs {
		if s.Parameters == nil {
			faults = append(faults, fmt.Errorf("tools[%d]: parameters is missing: give a JSON Schema of an object", n))
			continue
		}
		t, err := tool.Raw(s.Name, s.Description, s.Parameters, notRun)
		if err != nil {
			faults = append(faults, fmt.Errorf("tools[%d]: %w", n, err))
		}
		tools[n] = t
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return tool.NewSet(tools...)
}
