package random

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// withoutGrants leaves out what a run asked a limiter: what follows a grant follows the step that asked for
// it.
func withoutGrants(steps []step) (all []step, err error) {
	for _, s := range steps {
		if s.event.Kind != machine.Granted {
			all = append(all, s)
			continue
		}
		last := &all[len(all)-1]
		asked := len(last.effects) - 1
		if last.effects[asked].Kind != machine.AskGrant || s.event.Grant.Denied != "" {
			return nil, fmt.Errorf("a grant that nobody asked for, or that was denied, after %s", last.line)
		}
		last.effects = slices.Concat(last.effects[:asked], s.effects)
		if last.line, err = joined(last.line, s.line); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// joined returns the line of a step whose last effect is replaced by those of the next step.
func joined(asked, granted string) (string, error) {
	type line struct {
		Event   json.RawMessage   `json:"event"`
		Effects []json.RawMessage `json:"effects"`
		Said    []json.RawMessage `json:"said,omitempty"`
	}
	var one, next line
	if err := json.Unmarshal([]byte(asked), &one); err != nil {
		return "", err
	}
	if err := json.Unmarshal([]byte(granted), &next); err != nil {
		return "", err
	}
	one.Effects = append(one.Effects[:len(one.Effects)-1], next.Effects...)
	one.Said = append(one.Said, next.Said...)
	text, err := canon.Marshal(one)
	return string(text), err
}
