package journal

import (
	"fmt"

	"github.com/retake-go/retake/loop/machine"
)

// payloads say by an effect's kind whether it has what the kind names. Readers that do not fold a journal rely on it.
var payloads = map[machine.EffectKind]func(*machine.Effect) bool{
	machine.Decided:    func(e *machine.Effect) bool { return e.Decision != nil },
	machine.CallModel:  func(e *machine.Effect) bool { return e.Model != nil },
	machine.MakePrompt: func(e *machine.Effect) bool { return e.Model != nil },
	machine.RunTools:   func(e *machine.Effect) bool { return len(e.Tools) > 0 },
	machine.TryAction:  func(e *machine.Effect) bool { return e.Try != nil },
	machine.WaitUntil:  func(e *machine.Effect) bool { return e.Wait != nil },
	machine.AskPlanner: func(e *machine.Effect) bool { return e.Exhaustion != nil || e.Consultation != nil },
	machine.Stop:       func(e *machine.Effect) bool { return e.Outcome != nil },
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
		has, known := payloads[all[n].Kind]
		if !known {
			return fmt.Errorf("effect %d of its record is of the kind %.64q, which is none", n+1, string(all[n].Kind))
		}
		if !has(&all[n]) {
			return fmt.Errorf("effect %d of its record is %q, and lacks what that names", n+1, string(all[n].Kind))
		}
	}
	return nil
}
