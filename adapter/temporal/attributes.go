package temporal

import (
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/loop/machine"
)

// The search attributes of runs with [Options].SearchAttributes. Register status and exhausted as Keyword,
// and attempts as Int.
const (
	// AttributeStatus is running, waiting, planning, asking or stopped.
	AttributeStatus = "RetakeStatus"
	// AttributeAttempts is the number of attempts at the last change of the status.
	AttributeAttempts = "RetakeAttempts"
	// AttributeExhausted is the reason of an end without success; "no" before that.
	AttributeExhausted = "RetakeExhausted"
)

var (
	statusKey    = sdk.NewSearchAttributeKeyKeyword(AttributeStatus)
	attemptsKey  = sdk.NewSearchAttributeKeyInt64(AttributeAttempts)
	exhaustedKey = sdk.NewSearchAttributeKeyKeyword(AttributeExhausted)
)

// attributes are the current search attributes.
type attributes struct {
	Status    string `json:"status,omitempty"`
	Exhausted string `json:"exhausted,omitempty"`
}

// statuses are the values of [AttributeStatus] by phase.
var statuses = map[machine.Phase]string{
	machine.Waiting: "waiting", machine.Planning: "planning", machine.Asking: "asking",
	machine.Stopped: "stopped",
}

// initialAttributes returns the attributes of a start with those of a run that begins, so that the server
// refuses at once what is not registered. Workflow tasks that set it would fail without end.
func initialAttributes(given sdk.SearchAttributes) sdk.SearchAttributes {
	return sdk.NewSearchAttributes(given.Copy(), statusKey.ValueSet("running"), attemptsKey.ValueSet(0),
		exhaustedKey.ValueSet("no"))
}

// showAttributes sets the search attributes if they changed, because each time adds an event to the
// history.
func (f *flow) showAttributes() error {
	if !f.in.Attributes {
		return nil
	}
	now := attributes{Status: "running", Exhausted: "no"}
	if s, ok := statuses[f.st.Phase]; ok {
		now.Status = s
	}
	if o := f.st.Outcome; o != nil && !o.OK {
		now.Exhausted = string(o.Reason)
	}
	if now == f.noted {
		return nil
	}
	f.noted = now
	return workflow.UpsertTypedSearchAttributes(f.ctx, statusKey.ValueSet(now.Status),
		attemptsKey.ValueSet(int64(len(f.st.Attempts()))), exhaustedKey.ValueSet(now.Exhausted))
}
