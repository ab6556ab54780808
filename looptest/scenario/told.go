package scenario

import (
	"testing"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Told is one session of a story: all that another engine needs to make the same runs.
type Told struct {
	// Config is the configuration of the session's runs. Its tools no longer do what the story says.
	Config loop.Config
	// Session declares what the session is made of.
	Session session.Config
	// Action is set where the runs are the tries of a single action.
	Action *loop.Action
	// Planner and Prompts say that a planner is asked, and that user code makes the prompts.
	Planner, Prompts bool
	// Steps are all steps, in order; several runs of the session follow each other.
	Steps []Step
}

// Step is one step of a [Told].
type Step struct {
	Event   machine.Event
	Effects []machine.Effect
	// State is the state after the step.
	State machine.State
	// Outcome is what the tool did, where the event is that a tool has ended.
	Outcome *tool.Outcome
	// Dispatched are the events of the embedding program, where the event is that they were dispatched.
	Dispatched []session.Event
}

// Telling calls f with each session of a story that has passed. It is for tests of engines other than the
// [loop.Runner].
func Telling(f func(t *testing.T, sessions []Told)) Option {
	return way(func(sc *story) { sc.telling = f })
}

// beginTelling begins a session that may be told.
func (sc *story) beginTelling() {
	st := sc.runner.State()
	sc.told = append(sc.told, Told{
		Config: sc.cfg, Session: sc.sessionConfig(sc.id), Action: sc.single,
		Planner: st.Config.Planner, Prompts: st.Config.UserPrompt,
	})
}

// tellStep records a step.
func (sc *story) tellStep(ev machine.Event, effects []machine.Effect, st machine.State) {
	if len(sc.told) == 0 {
		return
	}
	now := &sc.told[len(sc.told)-1]
	s := sc.with
	s.Event, s.Effects, s.State = ev, effects, st
	sc.with = Step{}
	now.Steps = append(now.Steps, s)
}
