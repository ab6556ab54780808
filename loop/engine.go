package loop

import (
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// What follows is for engines that keep the state of the core themselves and step it by [machine.Step], such
// as one whose code is run again from its history: the parts of a [Runner] that are functions of values.

// Machine is the config of the core for runs under c and the options. The error joins all that is wrong with
// them.
func (c Config) Machine(opts ...Option) (machine.Config, error) {
	o, err := collect(opts)
	if err != nil {
		return machine.Config{}, err
	}
	_, err = c.ready(o)
	return c.machine(o), err
}

// Machine is the config of the core for the tries of the action. The error joins all that is wrong with it.
func (a *Action) Machine() (machine.Config, error) {
	if a == nil {
		return machine.Config{}, errNoAction
	}
	m := a.machine()
	_, err := machine.Compile(&m, nil)
	return m, err
}

// EndOf is a tool's outcome as the core sees it, without what reducers make of it.
func EndOf(run machine.ToolRun, out tool.Outcome) *machine.ToolEnd { return new(toolEnd(run, out)) }

// ToolEvents are the events that a call which has succeeded is to the reducers: [ToolResult], and those that
// the tool emitted.
func ToolEvents(run machine.ToolRun, out tool.Outcome) []session.Event {
	return toolEvents(everything, run, out)
}

// AnswerEvents are the events that an answer without issues is to the reducers: [StructuredOutput].
func AnswerEvents(reply message.Reply, a *machine.Answer) []session.Event {
	return answerEvents(everything, reply.Text, a)
}

// Reduce runs the reducers of s on events, as one transaction in which each sees what the one before it did
// to st. Where one fails, the callback of s is told at once. The session itself is not changed.
func Reduce(s *session.Session, st session.State, events []session.Event) *machine.Reduced {
	r := Runner{s: s, st: machine.State{Session: st}}
	return new(r.reduce(events))
}

// ResultOf is what [Run] would return of a run that has stopped in st; cause is the Go error behind its end,
// nil for what st says of it: see [Runner.Result].
func ResultOf(st machine.State, cause error) (Result, error) {
	r := Runner{st: st}
	return r.Result(cause)
}

// PlannerFailed is the cause of a run's end whose planner returned err when it was asked about asked, nil for
// none.
func PlannerFailed(err, asked error) error { return &plannerError{err: err, asked: asked} }

// HeaderOf is what a journal says of a run at its beginning, without what [journal.Journal.Begin] fills in.
func HeaderOf(m machine.Config, cfg Config) journal.Header { return header(m, cfg) }
