package scenario

import (
	"testing"
	"time"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Told is one session of a story. It has all that another engine needs to repeat its runs.
type Told struct {
	// Config is the configuration of the session's runs. Its tools do not follow the story any more.
	Config loop.Config
	// Deadline is the end of the runs' time; zero means none.
	Deadline time.Time
	// Session is the configuration of the session.
	Session session.Config
	// Action is set if the runs are tries of a single action.
	Action *loop.Action
	// Planner reports that a planner is asked, and Prompts that user code makes the prompts.
	Planner, Prompts bool
	// Steps are all steps, in order; several runs of the session follow each other.
	Steps []Step
	// Within are the runs of agents, in the order in which they began, also those within others. Agent is
	// the name of the tool of such a run.
	Within []Told
	Agent  string

	within []*Told
}

// Step is one step of a [Told].
type Step struct {
	Event   machine.Event
	Effects []machine.Effect
	// State is the state after the step.
	State machine.State
	// Outcome is the outcome of the tool, if the event is its end.
	Outcome *tool.Outcome
	// Dispatched are the events of the embedding program, if the step dispatched them.
	Dispatched []session.Event
}

// Telling calls f with each session of a story that has passed. It is for tests of engines other than the
// [engine.Runner].
func Telling(f func(t *testing.T, sessions []Told)) Option {
	return way(func(sc *story) { sc.telling = f })
}

// beginTelling begins the record of the run that has just begun: that of a session, or of an agent within it.
func (sc *story) beginTelling() {
	st := sc.runner.State()
	sc.tale = &Told{
		Config: sc.cfg, Deadline: sc.deadline, Session: sc.sessionConfig(sc.id), Action: sc.single,
		Planner: st.Config.Planner, Prompts: st.Config.UserPrompt,
	}
	if len(sc.around) == 0 {
		sc.told = append(sc.told, sc.tale)
		return
	}
	sc.tale.Agent = sc.around[len(sc.around)-1].call.Tool
	session := sc.told[len(sc.told)-1]
	session.within = append(session.within, sc.tale)
}

func (sc *story) tellStep(ev machine.Event, effects []machine.Effect, st machine.State) {
	s := sc.with
	s.Event, s.Effects, s.State = ev, effects, st
	sc.tale.Steps, sc.with = append(sc.tale.Steps, s), Step{}
}

// sessions returns all that was told.
func (sc *story) sessions() (all []Told) {
	for _, one := range sc.told {
		for _, within := range one.within {
			one.Within = append(one.Within, *within)
		}
		all = append(all, *one)
	}
	return all
}
