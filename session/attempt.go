package session

import (
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Attempt records one attempt of an action: its outcome and the decision. Treat its lists as read-only. The
// zero value is not a record.
type Attempt struct {
	// Action is the tool's name; empty for the final answer and, on the transport plane, for a model call.
	Action string `json:"action" redact:"name"`
	// Attempt is the number of the attempt, from 1.
	Attempt int `json:"attempt"`
	// MaxAttempts is the most attempts the policy allowed, including the first, or [policy.Unlimited].
	MaxAttempts int `json:"max_attempts"`
	// Plane is the plane of the decision. It is the correction plane if the attempt passed.
	Plane fault.Plane `json:"plane,omitempty"`
	// Class is the class of the failure; empty if the attempt passed or was cancelled: see [Attempt.Passed].
	Class fault.Class `json:"class"`
	// Issues are what was wrong, in canonical order.
	Issues []fault.Issue `json:"issues,omitempty"`
	// Reason is why the action went on or ended.
	Reason policy.Reason `json:"reason"`
	// Retry reports whether another attempt follows.
	Retry bool `json:"retry"`
	// Delay is the wait before the next attempt; 0 if there is none.
	Delay time.Duration `json:"delay_ns,omitempty"`
	// Repairs are the kinds of repair that were needed to read what the model wrote, each once. There are
	// none if the policy accepts repairs without a note.
	Repairs []extract.RepairKind `json:"repairs,omitempty"`
	// Usage is what the attempt consumed.
	Usage message.Usage `json:"usage,omitzero"`
	// At is the time of the decision in UTC; zero if unknown.
	At time.Time `json:"at,omitzero"`
}

// Passed reports whether the attempt succeeded: the proposal was valid and its tool, if any, did not fail for
// good. An attempt that was cancelled, or whose time was up, has not passed.
func (a Attempt) Passed() bool {
	return a.Class == "" && a.Reason != policy.ReasonFailedForGood && !a.Reason.GaveUp()
}

// Repaired describes the repairs of an attempt that passed: "the answer was repaired: trailing_comma". It is
// empty if nothing that the model said had to be changed.
func (a Attempt) Repaired() string {
	kinds := slices.DeleteFunc(slices.Clone(a.Repairs), extract.RepairKind.Around)
	if len(kinds) == 0 || a.Class != "" {
		return ""
	}
	what := "the answer"
	if a.Action != "" {
		what = "a call of " + a.Action
	}
	names := make([]string, len(kinds))
	for n, k := range kinds {
		names[n] = string(k)
	}
	return what + " was repaired: " + strings.Join(names, ", ")
}

// ToolFailure describes a tool call that gave no result, for example because it panicked: "tool pay failed:
// tool_execution (not_repeatable)". It is empty if the tool did not fail or did not run.
func (a Attempt) ToolFailure() string {
	switch {
	case a.Action == "":
		return ""
	case a.Reason == policy.ReasonFailedForGood:
		return "tool " + a.Action + " failed for good"
	case a.Plane == fault.Transport && !a.Retry:
		return "tool " + a.Action + " failed: " + string(a.Class) + " (" + string(a.Reason) + ")"
	}
	return ""
}
