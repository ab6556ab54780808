package dbos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
)

// errCut is the error of a step that a record does not have.
var errCut = errors.New("the record ends here")

// past is the record of a workflow in place of its context: a flow reads its steps, and does nothing.
type past struct {
	sdk.Context // nil: a flow uses no other methods
	steps       map[int]sdk.StepInfo
	next        int
}

// recorded returns what a run came to by its record so far, and its end as cancelled if the record has none.
func (a *agent) recorded(c sdk.Client, workflow, id string) (string, error) {
	all, err := sdk.ListWorkflows(c, sdk.WithFilterWorkflowIDs(workflow), sdk.WithFilterLoadInput(true))
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("there is no workflow %q", workflow)
	}
	if err != nil {
		return "", err
	}
	steps, err := sdk.GetWorkflowSteps(c, workflow, sdk.WithStepsLoadOutput(true))
	if err != nil {
		return "", err
	}
	p := &past{steps: map[int]sdk.StepInfo{}}
	for _, s := range steps {
		p.steps[s.StepID] = s
	}
	own := *a
	own.hooks.step = nil
	return own.runAs(p, workflow, id, textOf(all[0].Input))
}

// textOf returns a text that DBOS lists: as JSON, unless the program has a serializer of its own.
func textOf(listed any) string {
	text, _ := listed.(string)
	if own := ""; json.Unmarshal([]byte(text), &own) == nil {
		return own
	}
	return text
}

// step returns the next step of the record.
func (p *past) step() (text string, err error) {
	s, ok := p.steps[p.next]
	if p.next++; !ok {
		return "", errCut
	}
	return textOf(s.Output), s.Error
}

func (p *past) Err() error { return nil }

func (p *past) WithCancel() (sdk.Context, context.CancelFunc) { return p, func() {} }

func (p *past) RunAsStep(sdk.Context, sdk.StepFunc, ...sdk.StepOption) (any, error) { return p.step() }

func (p *past) Go(sdk.Context, sdk.StepFunc, ...sdk.StepOption) (<-chan sdk.StepOutcome[any], error) {
	out := make(chan sdk.StepOutcome[any], 1)
	text, err := p.step()
	out <- sdk.StepOutcome[any]{Result: text, Err: err}
	return out, nil
}

func (p *past) SetEvent(_ sdk.Context, key string, _ any, _ ...sdk.SetEventOption) error {
	if is := p.steps[p.next].StepName; key == closing && is != "" && is != "DBOS.setEvent" {
		return nil // earlier versions have none
	}
	_, err := p.step()
	return err
}

// Recv has two places: the second is that of its timeout.
func (p *past) Recv(sdk.Context, string, time.Duration) (any, error) {
	defer func() { p.next++ }()
	return p.step()
}

func (p *past) RunWorkflow(
	sdk.Context, sdk.WorkflowFunc, any, ...sdk.WorkflowOption,
) (sdk.WorkflowHandle[any], error) {
	_, err := p.step()
	return pastRun{past: p}, err
}

func (p *past) CancelWorkflow(sdk.Client, string, ...sdk.CancelWorkflowOption) error {
	_, err := p.step()
	return err
}

// pastRun is the handle of a workflow that one in the past began.
type pastRun struct {
	sdk.WorkflowHandle[any] // nil: a flow uses no other methods
	*past
}

func (r pastRun) GetResult(...sdk.GetResultOption) (any, error) { return r.step() }

func (r pastRun) GetWorkflowID() string { return "" }
