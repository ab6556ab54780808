package temporal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// maxStepBytes bounds one decision in a trail, in bytes.
const maxStepBytes = 2 << 10

// extendTrail adds one step to the trail.
func (f *flow) extendTrail(ev machine.Event, effects []machine.Effect, said []message.Message) error {
	line, err := machine.Trace(ev, effects, said)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(append([]byte(f.trail.Digest+"\n"), line...))
	f.trail.Events++
	f.trail.Digest = hex.EncodeToString(sum[:8])
	step := trailStep{Event: ev.Kind, Decision: &journal.Decision{Effects: effects, Said: said}}
	doc, err := engine.Marshal(step.Decision)
	if err != nil {
		return err
	}
	if len(doc) > maxStepBytes {
		step.Decision = nil
		for _, e := range effects {
			step.Sentences = append(step.Sentences, cut(e.String(), maxStepBytes/8))
		}
		step.Sentences = step.Sentences[:min(len(step.Sentences), 8)]
	}
	f.trail.Steps = append(f.trail.Steps, step)
	return nil
}

// checkTrail compares the decisions since the last check with those in the history. The first time it writes
// them there. It runs before each wait, so that code which decides otherwise stops there: Temporal itself
// compares only the kinds of commands. A wait that is already over is skipped.
func (f *flow) checkTrail() {
	asked := f.asked
	waited := f.st.Phase == machine.Waiting && asked.Wait != nil && !asked.Wait.Until.After(f.now())
	if waited || f.trail.Events == f.checked {
		return
	}
	then, err := once[trail](workflow.SideEffect(f.ctx, func(workflow.Context) any { return over(f.trail) }))
	if err == nil && then.Digest != f.trail.Digest {
		err = f.difference(then)
	}
	if err != nil {
		panic(fmt.Sprintf("retake: this code decides otherwise than the history: %v; "+
			"the run has the behaviours %v, this code knows %v",
			err, f.st.Config.Behaviours, machine.Behaviours()))
	}
	f.checked, f.trail.Steps = f.trail.Events, nil
}

// difference returns the first difference between the trail and that of the history.
func (f *flow) difference(then trail) error {
	now := f.trail
	for n := range max(len(then.Steps), len(now.Steps)) {
		event := f.checked + n + 1
		switch {
		case n >= len(then.Steps):
			return fmt.Errorf("event %d (%s): the history does not have it, but this code makes it",
				event, now.Steps[n].Event)
		case n >= len(now.Steps):
			return fmt.Errorf("event %d (%s): now there is none", event, then.Steps[n].Event)
		}
		if err := f.compare(event, then.Steps[n], now.Steps[n]); err != nil {
			return err
		}
	}
	return fmt.Errorf("events %d to %d: the messages or effects differ, and are too long to show",
		f.checked+1, now.Events)
}

// compare describes the difference between two steps in the words of a journal's replay; nil if it can show
// none.
func (f *flow) compare(event int, then, now trailStep) error {
	switch {
	case then.Event != now.Event:
		return fmt.Errorf("event %d: it was %s, now it is %s", event, then.Event, now.Event)
	case then.Decision != nil && now.Decision != nil:
		return journal.Compare(int64(event), now.Event, *then.Decision, *now.Decision)
	}
	was, is := then.sentences(), now.sentences()
	if slices.Equal(was, is) {
		return nil
	}
	return fmt.Errorf("event %d (%s): recorded %q, but now %q", event, now.Event, was, is)
}

// sentences describe the decision in words.
func (t trailStep) sentences() []string {
	if t.Decision == nil {
		return t.Sentences
	}
	all := make([]string, len(t.Decision.Effects))
	for n, e := range t.Decision.Effects {
		all[n] = e.String()
	}
	return all
}
