package report

import (
	"strconv"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// left is what is left of the budgets. A budget that does not apply or has no limit is nil.
type left struct {
	Tool    *int `json:"tool,omitempty"`
	Run     *int `json:"run,omitempty"`
	Unknown *int `json:"unknown_tools,omitempty"`
}

// leftAfter says what an attempt leaves of the budgets; nil if it counts against none.
func leftAfter(spent machine.Charged, of policy.Budgets) *left {
	if spent == (machine.Charged{}) {
		return nil
	}
	now := &left{Run: leftOf(of.Run, spent.Run), Unknown: leftOf(of.UnknownTools, spent.Unknown)}
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

// String names what is left; empty if nothing is limited.
func (l *left) String() string {
	name := func(what string, n *int) string {
		if n == nil {
			return ""
		}
		return what + strconv.Itoa(*n)
	}
	return after("left: ", joined(", ",
		name("tool ", l.Tool), name("run ", l.Run), name("unknown tools ", l.Unknown)))
}

// limitText is a limit in words.
func limitText(limit int) string {
	if limit == policy.Unlimited {
		return "unlimited"
	}
	return strconv.Itoa(limit)
}
