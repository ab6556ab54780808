package report

import (
	"strconv"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// left is what is left of the budgets. A budget that does not apply or has no limit is nil.
type left struct {
	Tool    *int `json:"tool,omitempty"`
	Run     *int `json:"run,omitempty"`
	Unknown *int `json:"unknown_tools,omitempty"`
	of      policy.Budgets
}

// leftAfter says what an attempt leaves of the budgets; nil if it counts against none.
func leftAfter(spent machine.FailedAttempts, of policy.Budgets) *left {
	if spent == (machine.FailedAttempts{}) {
		return nil
	}
	now := &left{Run: leftOf(of.Run, spent.Run), Unknown: leftOf(of.UnknownTools, spent.Unknown), of: of}
	if spent.Tool > 0 {
		now.Tool = leftOf(of.Tool, spent.Tool)
	}
	return now
}

func leftOf(limit, spent int) *int {
	if limit == policy.Unlimited {
		return nil
	}
	return new(max(0, limit-spent))
}

// leftPart is what is left of one budget. Low is set if that is little.
type leftPart struct {
	Text string
	Low  bool
}

// Parts returns what is left of each budget.
func (l *left) Parts() (all []leftPart) {
	for _, b := range []struct {
		what  string
		n     *int
		limit int
	}{{"tool ", l.Tool, l.of.Tool}, {"run ", l.Run, l.of.Run}, {"unknown tools ", l.Unknown, l.of.UnknownTools}} {
		if b.n != nil {
			all = append(all, leftPart{b.what + strconv.Itoa(*b.n), several.Low(*b.n, b.limit)})
		}
	}
	return all
}

// String names what is left; empty if nothing is limited.
func (l *left) String() string {
	return after("left: ", listed(l.Parts(), func(p leftPart) string { return p.Text }))
}

// limitText returns a limit in words.
func limitText(limit int) string {
	if limit == policy.Unlimited {
		return "unlimited"
	}
	return strconv.Itoa(limit)
}
