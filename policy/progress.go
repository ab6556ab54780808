package policy

import (
	"cmp"
	"strings"

	"github.com/retake-go/retake/internal/fields"
)

// Progress says what follows if valid calls are repeated and their results stay the same. What is repeated is
// a cycle of 1 to 4 calls, and its complete rounds are counted: A, A, A are three rounds, A, B, A, B two. A
// cycle is seen at its second round, so a bound of 1 is reached there. Equal calls of a reply count once,
// because the model has not seen the result of the first. A reply of five or more different calls counts as
// one call, which has the bounds of the call that ends a run soonest.
//
// A member that is 0 is absent: it has the value of the layer below, and in the end that of [Progress.For].
type Progress struct {
	// Nudge (nudge) tells the model at every round that is a multiple of it: at least 1, or [Unlimited] for
	// never.
	Nudge int `policy:"nudge,absent,unlimited,least=1"`
	// Planner (planner) is the round at which the planner is asked, if the run has one: at least 1, or
	// [Unlimited] for never.
	Planner int `policy:"planner,absent,unlimited,least=1"`
	// Stop (stop) is the round at which the run ends: at least 1, or [Unlimited] for never.
	Stop int `policy:"stop,absent,unlimited,least=1"`
	// Window (window) is how many of the last calls are searched for earlier rounds of a cycle that other
	// calls interrupted: 1 to 1,000.
	Window int `policy:"window,absent,least=1,most=1000"`
}

// The values of members that no layer sets, for tools that are declared read-only and for all others.
var (
	defaultProgress  = Progress{Nudge: 4, Planner: 7, Stop: 10, Window: 32}
	readOnlyProgress = Progress{Nudge: 10, Planner: 30, Stop: 50, Window: 32}
)

// For returns p with the default of each absent member: nudge 4, planner 7, stop 10 and window 32, or 10, 30,
// 50 and 32 for a tool that is declared read-only.
func (p Progress) For(readOnly bool) Progress {
	if readOnly {
		return p.over(readOnlyProgress)
	}
	return p.over(defaultProgress)
}

// over returns p with the members of below where p has none.
func (p Progress) over(below Progress) Progress {
	return Progress{
		Nudge: cmp.Or(p.Nudge, below.Nudge), Planner: cmp.Or(p.Planner, below.Planner),
		Stop: cmp.Or(p.Stop, below.Stop), Window: cmp.Or(p.Window, below.Window),
	}
}

// String returns p as in policy files: "{nudge: 2, stop: 5}"; "by declaration" if all members are absent.
func (p Progress) String() string {
	return cmp.Or(shown(&p), "by declaration")
}

// shown returns the members of the struct that v points to that are not absent, as in policy files; empty if
// all are.
func shown(v any) string {
	var said []string
	for n, f := range fields.Fields(v) {
		if fields.IsZero(v, n) {
			continue
		}
		said = append(said, f.Name+": "+fields.Show(v, n))
	}
	if said == nil {
		return ""
	}
	return "{" + strings.Join(said, ", ") + "}"
}

// MarshalJSON writes the members that are not absent.
func (p Progress) MarshalJSON() ([]byte, error) { return fields.JSON(&p, nil) }

// UnmarshalJSON replaces p with a mapping of members. It is as strict as [Layer.UnmarshalJSON].
func (p *Progress) UnmarshalJSON(data []byte) error {
	var read Progress
	f := fields.Collect()
	fields.Read(data, &read, f)
	if f.Found() > 0 {
		f.Besides(func(f fields.Faults) { checks.Check(&read, f) })
		return fields.Err[FieldError](f)
	}
	*p = read
	return nil
}
