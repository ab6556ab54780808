package report

import (
	"fmt"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// policyRow is one field of a policy.
type policyRow struct {
	Field, Value, Layer, Source string
	// Said is set where somebody has said it; else it is the default.
	Said bool
}

// policyView is a policy that decisions were taken by.
type policyView struct {
	ID, Title string
	Rows      []policyRow
}

// deciding are the fields that a reason follows from.
var deciding = map[policy.Reason][]string{
	policy.Backoff:           {"max_attempts", "backoff", "bases"},
	policy.Immediate:         {"max_attempts", "backoff"},
	policy.ServerAsked:       {"max_attempts", "retry_after", "retry_after_jitter", "max_retry_after"},
	policy.NotRetryable:      {"retryable_errors"},
	policy.OptOut:            {"opt_out"},
	policy.AttemptsExhausted: {"max_attempts"},
	policy.NoProgress:        {"no_progress"},
	policy.RetryAfterTooLong: {"max_retry_after"},
	policy.DelayBudget:       {"max_total_delay", "backoff"},
	policy.ReducerError:      {"on_reducer_error", "retryable_errors"},
}

func rowsOf(e policy.Explanation) []policyRow {
	rows := make([]policyRow, len(e))
	for n, r := range e {
		said := r.Layer != policy.LayerDefault
		rows[n] = policyRow{visible(r.Field), visible(r.Value), visible(r.Layer), visible(r.Source), said}
	}
	return rows
}

// decidedBy are the rows that a reason follows from.
func decidedBy(e policy.Explanation, reason policy.Reason) []policyRow {
	fields := deciding[reason]
	return slices.DeleteFunc(rowsOf(e), func(r policyRow) bool {
		return !slices.Contains(fields, r.Field) || r.Field == "bases" && !r.Said
	})
}

// policy is the id of the table of a decision's policy, which is added to the page where it is not there yet.
func (t *teller) policy(e *entry) string {
	if len(e.detail.policy) == 0 {
		return ""
	}
	title := policyTitle(e.Decision.Action, e.Decision.Plane == fault.Transport)
	key := title + "\n" + e.detail.policy.String()
	if id, ok := t.policies[key]; ok {
		return id
	}
	if len(t.policies) >= maxPolicies {
		return ""
	}
	id := fmt.Sprintf("p%d-%d", t.run.Number, len(t.policies)+1)
	t.policies[key] = id
	t.run.Policies = append(t.run.Policies, policyView{id, visible(title), rowsOf(e.detail.policy)})
	return id
}
