package journal

import (
	"fmt"

	"github.com/retake-go/retake/loop/machine"
)

// payload reports whether an effect has what its kind names, and whether the kind is one. Readers that do not fold a journal rely
// on it.
func payload(e *machine.Effect) (there, known bool) {
	switch e.Kind {
	case machine.Decided:
		return e.Decision != nil, true
	case machine.CallModel, machine.MakePrompt:
		return e.Model != nil, true
	case machine.RunTools:
		return len(e.Tools) > 0, true
	case machine.TryAction:
		return e.Try != nil, true
	case machine.WaitUntil:
		return e.Wait != nil, true
	case machine.AskPlanner:
		return e.Exhaustion != nil || e.Consultation != nil, true
	case machine.Stop:
		return e.Outcome != nil, true
	}
	return false, false
}

// checkEffects says which effect of a record is none.
func (rec *Record) checkEffects() error {
	var all []machine.Effect
	switch {
	case rec.Decision != nil:
		all = rec.Decision.Effects
	case rec.Snapshot != nil && rec.Snapshot.Asked != nil:
		all = []machine.Effect{*rec.Snapshot.Asked}
	}
	for n := range all {
		there, known := payload(&all[n])
		if !known {
			return fmt.Errorf("effect %d of its record is of the kind %.64q, which is none", n+1, string(all[n].Kind))
		}
		if !there {
			return fmt.Errorf("effect %d of its record is %q, and lacks what that names", n+1, string(all[n].Kind))
		}
	}
	return nil
}
