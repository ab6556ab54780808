package scenario

import (
	"slices"
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

// beginTelling begins the record of a session.
func (sc *story) beginTelling() {
	sc.told = append(sc.told, sc.beginning())
}

// beginning is the record of the session that has just begun.
func (sc *story) beginning() Told {
	st := sc.runner.State()
	return Told{
		Config: sc.cfg, Deadline: sc.deadline, Session: sc.sessionConfig(sc.id), Action: sc.single,
		Planner: st.Config.Planner, Prompts: st.Config.UserPrompt,
	}
}

// tellWithin begins the record of the run of an agent.
func (sc *story) tellWithin() {
	if len(sc.told) > 0 {
		of := sc.beginning()
		of.Agent = sc.around[len(sc.around)-1].call.Tool
		now := &sc.told[len(sc.told)-1]
		now.Within = append(now.Within, of)
	}
}

// current is the record of the run that the story goes on with; nil for none.
func (sc *story) current() *Told {
	if len(sc.told) == 0 {
		return nil
	}
	now := &sc.told[len(sc.told)-1]
	if len(sc.around) == 0 {
		return now
	}
	at := slices.IndexFunc(now.Within, func(of Told) bool { return of.Session.ID == sc.id })
	if at < 0 {
		return nil
	}
	return &now.Within[at]
}

// tellStep records a step.
func (sc *story) tellStep(ev machine.Event, effects []machine.Effect, st machine.State) {
	now := sc.current()
	if now == nil {
		return
	}
	s := sc.with
	s.Event, s.Effects, s.State = ev, effects, st
	sc.with = Step{}
	now.Steps = append(now.Steps, s)
}
