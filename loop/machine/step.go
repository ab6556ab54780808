package machine

import (
	"strings"
	"time"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// cell is one place of the table of what fits.
type cell struct {
	phase Phase
	kind  EventKind
}

// table says which event fits which phase.
var table = map[cell]bool{
	{Idle, Started}:       true,
	{Stopped, Started}:    true,
	{Prompting, Prompted}: true,
	{Calling, Replied}:    true,
	{Calling, CallFailed}: true,
	{Running, ToolEnded}:  true,
	{Trying, Tried}:       true,
	{Waiting, Woke}:       true,
	{Planning, Planned}:   true,

	{Prompting, Adjusted}: true,
	{Calling, Adjusted}:   true,
	{Running, Adjusted}:   true,
	{Trying, Adjusted}:    true,
	{Waiting, Adjusted}:   true,
	{Planning, Adjusted}:  true,

	{Prompting, Cancelled}: true,
	{Calling, Cancelled}:   true,
	{Running, Cancelled}:   true,
	{Trying, Cancelled}:    true,
	{Waiting, Cancelled}:   true,
	{Planning, Cancelled}:  true,

	{Idle, Dispatched}:      true,
	{Prompting, Dispatched}: true,
	{Calling, Dispatched}:   true,
	{Running, Dispatched}:   true,
	{Trying, Dispatched}:    true,
	{Waiting, Dispatched}:   true,
	{Planning, Dispatched}:  true,
	{Stopped, Dispatched}:   true,
}

// fits says for each phase what the table holds besides adjusted, cancelled and dispatched.
var fits = map[Phase]string{
	Idle: "started", Stopped: "started", Prompting: "prompted", Calling: "replied or call_failed", Running: "tool_ended",
	Trying: "tried", Waiting: "woke", Planning: "planned",
}

// step is one transition under way: the state to be, the event and the effects so far.
type step struct {
	State
	ev Event
	fx []Effect
	// ownActions and ownBatch are set once the step has a copy of the state's that it may write to.
	ownActions, ownBatch bool
}

// Step is the machine: it returns the state after ev and what is to be done. Where ev does not fit, it returns st as it
// was and an [*EventError]. It never changes st.
func Step(st State, ev Event) (State, []Effect, error) {
	if !table[cell{st.Phase, ev.Kind}] {
		return st, nil, &EventError{st.Phase, ev.Kind, "it waits for " + fits[st.Phase]}
	}
	if ev.At.Before(st.At) {
		return st, nil, &EventError{st.Phase, ev.Kind, "its time is before that of the event before it"}
	}
	if missing := ev.missing(); missing != "" {
		return st, nil, &EventError{st.Phase, ev.Kind, "it needs the payload " + missing}
	}
	s := step{State: st, ev: ev}
	s.At = ev.At
	if err := s.handle(); err != nil {
		return st, nil, err
	}
	return s.State, s.fx, nil
}

// handle does what the event does. It calls what does so by name, and not out of a table, so that a step needs no memory but
// for what it leaves: the compiler sees that nobody keeps it.
func (s *step) handle() error {
	switch s.ev.Kind {
	case Started:
		return s.started()
	case Prompted:
		return s.prompted()
	case Replied:
		return s.replied()
	case CallFailed:
		return s.callFailed()
	case ToolEnded:
		return s.toolEnded()
	case Tried:
		return s.tried()
	case Woke:
		return s.woke()
	case Planned:
		return s.planned()
	case Adjusted:
		return s.adjusted()
	case Dispatched:
		return s.dispatched()
	}
	return s.cancelled()
}

// missing names the payload that the event's kind needs and the event lacks.
func (e *Event) missing() string {
	there, name := true, ""
	switch e.Kind {
	case Replied:
		there, name = e.Reply != nil, "reply"
	case CallFailed:
		there, name = e.Failure != nil && e.Failure.Failed(), "failure"
	case ToolEnded:
		there, name = e.Tool != nil, "tool"
	case Tried:
		there, name = e.Try != nil, "try"
	case Planned:
		there, name = e.Plan != nil, "plan"
	case Adjusted:
		there, name = e.Adjust != nil, "adjust"
	case Dispatched:
		there, name = e.Reduced != nil, "reduced"
	}
	if there {
		return ""
	}
	return name
}

func (s *step) misfit(why string) error { return &EventError{s.Phase, s.ev.Kind, why} }

func (s *step) do(e Effect) {
	if s.fx == nil {
		s.fx = make([]Effect, 0, 2) // what most steps have
	}
	s.fx = append(s.fx, e)
}

func (s *step) say(m ...message.Message) { s.Transcript = s.Transcript.Append(m...) }

// started begins a run: what belongs to the run before is cleared, what belongs to the session stays.
func (s *step) started() error {
	cfg := s.Config
	s.State = State{
		Config: cfg, Policy: &cfg.Policy, words: s.words, Session: s.Session, Transcript: s.Transcript,
		At: s.At, Run: s.Run + 1, First: s.Session.Attempts().Len(), Opened: s.Opened, policies: s.words.policies,
	}
	s.ownActions, s.ownBatch = false, false
	s.say(s.ev.Messages...)
	if cfg.Single {
		return s.try()
	}
	return s.turn()
}

func (s *step) prompted() error {
	s.System = s.ev.System
	s.say(s.ev.Messages...)
	return s.ask()
}

func (s *step) woke() error {
	if w := s.due(s.Next); w != nil && s.At.Before(w.Until) {
		return s.misfit("it waits until " + w.Until.Format(time.RFC3339Nano))
	}
	return s.follow(s.Next)
}

func (s *step) adjusted() error {
	p := policy.Fold(*s.Policy, *s.ev.Adjust)
	s.Policy, s.policies = &p, policiesOf(&p)
	return nil
}

func (s *step) dispatched() error { return s.reduce(s.ev.Reduced) }

func (s *step) cancelled() error {
	s.recordCancelled()
	s.stop(Outcome{Reason: policy.Cancelled})
	return nil
}

// stop ends the run. What was under way is dropped; the session keeps all that was recorded, and the transcript stays one
// that a model can be asked with.
func (s *step) stop(o Outcome) {
	if s.Batch != nil {
		s.endBatch("No result: the run was stopped.")
	}
	o.Usage, o.Waited, o.Turns = s.Usage, s.Waited, s.Turn
	o.Warnings = s.Warnings
	s.Phase, s.Outcome = Stopped, &o
	s.Exhausted, s.Consults, s.Resume, s.Hold, s.Next = nil, nil, nil, nil, ""
	s.do(Effect{Kind: Stop, Outcome: &o})
}

// lastText is the text of the latest reply.
func (s *step) lastText() string {
	for _, m := range s.Transcript.Backward() {
		if m.Role == message.Assistant {
			return strings.TrimSpace(m.Text)
		}
	}
	return ""
}
