package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
)

// waits are the events that each phase waits for. Other events fit in every phase of a run: see
// [State.refuses].
var waits = map[Phase][]EventKind{
	Idle:        {Started},
	Stopped:     {Started},
	Prompting:   {Prompted},
	Estimating:  {Estimated},
	Queueing:    {Granted},
	Calling:     {Replied, CallFailed},
	Running:     {ToolEnded},
	Trying:      {Tried},
	Waiting:     {Woke},
	Asking:      {Responded, Woke},
	Reducing:    {ReducersRan},
	Planning:    {Planned},
	Shortening:  {Shortened},
	Summarising: {Summarised},
}

// step is one transition: the state, which it changes, the event, which is read-only, and the effects so far.
type step struct {
	*State
	ev Event
	fx []Effect
	// limits are the rate limits that the failure of the event reports, or nil.
	limits *ratelimit.State
	// paid is what the model call of the event cost, with the failed calls that no action has paid for yet.
	paid policy.Charge
	// from is the number of messages before the event.
	from int
}

// Step makes st the state after ev, and returns what has to be done. Copies of the state before stay as they
// are. State and effects are read-only: they share memory with each other, with such copies and with ev. If
// ev does not fit, Step returns an [*EventError] and leaves st as it is.
func Step(st *State, ev *Event) ([]Effect, error) {
	s := step{State: st, ev: *ev}
	if why := st.refuses(ev); why != "" {
		return nil, s.eventError(why)
	}
	before := *st
	s.At, s.limits, s.from = ev.At, ev.rateLimit(), st.transcript.Len()
	if early := st.inner.Early; early != nil {
		s.paid = *early
	}
	s.Actions, s.Batch = slices.Clone(st.Actions), st.Batch.copied()
	if err := s.handle(); err != nil {
		*st = before
		return nil, err
	}
	return slices.Clip(s.fx), nil
}

// refuses returns why an event does not fit, or "".
func (st *State) refuses(ev *Event) string {
	awaited, known := waits[st.Phase]
	fits := slices.Contains(awaited, ev.Kind)
	switch ev.Kind {
	case Dispatched:
		fits = known
	case Adjusted, Cancelled, Broken, Spoken:
		fits = known && st.Phase != Idle && st.Phase != Stopped
	}
	if !fits {
		words := make([]string, len(awaited))
		for n, k := range awaited {
			words[n] = string(k)
		}
		return "it waits for " + strings.Join(words, " or ")
	}
	if ev.At.Before(st.At) {
		return "its time is before that of the event before it"
	}
	if missing := ev.Missing(); missing != "" {
		return "it needs the payload " + missing
	}
	return ""
}

func (s *step) handle() error {
	switch s.ev.Kind {
	case Started:
		return s.started()
	case Prompted:
		return s.prompted()
	case Estimated:
		return s.estimated()
	case Granted:
		return s.granted()
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
	case Responded:
		return s.responded()
	case Spoken:
		return s.said()
	case Planned:
		return s.planned()
	case Adjusted:
		return s.adjusted()
	case Dispatched:
		return s.dispatched()
	case ReducersRan:
		return s.reduced()
	case Shortened:
		return s.shortened()
	case Summarised:
		return s.summarised()
	}
	return s.cancelled()
}

// Missing returns the name of the payload that the event lacks, or "".
func (e *Event) Missing() string {
	there, name := true, ""
	switch e.Kind {
	case Granted:
		there, name = e.Grant != nil, "grant"
	case Replied:
		there, name = e.Reply != nil, "reply"
	case CallFailed:
		there, name = e.Failure != nil && e.Failure.Failed(), "failure"
	case ToolEnded:
		there, name = e.Tool != nil, "tool"
	case Tried:
		there, name = e.Try != nil, "try"
	case Responded:
		there, name = e.Response != nil, "response"
	case Spoken:
		there, name = e.Said != nil, "said"
	case Planned:
		there, name = e.Plan != nil, "plan"
	case Adjusted:
		there, name = e.Adjust != nil, "adjust"
	case Dispatched:
		there, name = e.Reduced != nil, "reduced"
	case Shortened:
		there, name = e.Cut != nil, "cut"
	case Summarised:
		there, name = e.Summary != nil && (e.Cut != nil || e.Failure != nil), "summary"
	}
	if there {
		return ""
	}
	return name
}

func (s *step) eventError(why string) error { return &EventError{s.Phase, s.ev.Kind, why} }

// do adds an effect of the kind. The caller sets its payload.
func (s *step) do(k EffectKind) *Effect {
	if s.fx == nil {
		s.fx = make([]Effect, 0, 2) // most steps have one or two
	}
	s.fx = append(s.fx, Effect{Kind: k})
	return &s.fx[len(s.fx)-1]
}

// say adds a message to the transcript.
func (s *step) say(m message.Message) { s.transcript = s.transcript.Append(m) }

// started begins a run: it clears the state of the run before and keeps the session.
func (s *step) started() error {
	cfg := s.Config
	if s.Phase != Idle {
		before := *s.State
		*s.State = State{Config: cfg, compiled: s.compiled, Session: s.Session, At: s.At}
		s.GoOn(&before)
	}
	s.Policy, s.policies, s.inner.Hears = &cfg.Policy, s.compiled.policies, s.ev.Hears
	s.Session = s.Session.AddRun().WithMaxReply("", 0) // the run's own model may be another now
	s.Run, s.First = s.Session.Runs(), s.Session.AttemptCount()
	s.Opened = s.First // every action leaves an attempt, so the numbers are new
	s.Warnings = append(slices.Clip(s.Warnings), s.ev.Warnings...)
	s.transcript = s.transcript.Append(s.ev.Messages...)
	if known := s.ev.Kept; known != nil {
		if !known.Fits(s.transcript.Len()) {
			return s.eventError("what is kept is not of its conversation")
		}
		s.turns, s.Cuts = seq.Of(known.Turns...), known.Cuts
	}
	s.Began = s.transcript.Len()
	s.digestRequest()
	if cfg.Single {
		return s.nextTry()
	}
	return s.nextTurn()
}

func (s *step) prompted() error {
	s.System = s.ev.System
	s.transcript = s.transcript.Append(s.ev.Messages...)
	return s.callModel()
}

func (s *step) woke() error {
	if s.Phase == Asking {
		return s.nobodyAnswered()
	}
	if w := s.waitBefore(s.inner.Next); w != nil && s.At.Before(w.Until) {
		return s.eventError("it waits until " + w.Until.Format(time.RFC3339Nano))
	}
	return s.enter(s.inner.Next)
}

func (s *step) adjusted() error {
	if err := s.AdjustFault(*s.ev.Adjust); err != nil {
		return s.eventError(err.Error())
	}
	s.adjust(s.ev.Adjust)
	return nil
}

// adjust merges a valid layer over the policy.
func (st *State) adjust(l *policy.Layer) {
	p := *st.Policy
	p.Adjusted = l.Clone().Over(p.Adjusted) // whoever gave the layer may write into it later
	st.Policy, st.policies = &p, policiesOf(&p)
}

func (s *step) dispatched() error { return s.reduce(s.ev.Reduced) }

func (s *step) cancelled() error {
	if s.Outcome != nil { // it has ended, but the reducers must run first
		s.Notices = nil
		s.ended()
		return nil
	}
	reason := policy.ReasonCancelled
	if f := s.ev.Failure; s.ev.Kind == Broken {
		reason = policy.ReasonBroken
	} else if f != nil && f.Class == fault.DeadlineExceeded {
		reason = policy.ReasonDeadline
		for _, a := range s.inner.Questions {
			a.Deadline = time.Time{} // what would have followed without an answer did not
			s.warn("nobody answered by the deadline: " + a.String())
		}
	}
	s.useLeft()
	s.recordCancelled(reason)
	s.stop(Outcome{Reason: reason, Cause: s.ev.Failure})
	return nil
}

// stop ends the run. Work in progress is dropped, but the session keeps all records, and the transcript stays
// a valid prompt.
func (s *step) stop(o Outcome) {
	if s.Batch != nil {
		s.endBatch("Not done: the run was stopped.")
	}
	if n := len(s.inner.Words); n > 0 {
		s.warn("the run ended before the model was told what the user had said last: " + several.Of(n, "message"))
	}
	o.Totals = Totals{Usage: s.Usage, Waited: s.Waited, Turns: s.Turn,
		Cost: s.Charged.Cost, Estimated: s.Charged.Estimated, Wasted: s.Wasted}
	o.Warnings, o.InDoubt, o.ToolFailures = s.Warnings, s.InDoubt(), s.ToolFailures()
	s.Outcome = &o
	s.inner = inner{Hears: s.inner.Hears}
	if s.notifyEnd(&o); !s.asksReducers("") {
		s.ended()
	}
}

// ended adds the effect with the outcome of the run.
func (s *step) ended() {
	s.Phase, s.inner.Next = Stopped, ""
	s.do(Stop).Outcome = s.Outcome
}

// lastText returns the text of the latest reply.
func (s *step) lastText() string {
	for _, m := range s.transcript.Backward() {
		if m.Role == message.Assistant {
			return extract.WithoutThoughts(strings.TrimSpace(m.Text))
		}
	}
	return ""
}

// EventError reports an event that does not fit the state. The state does not change.
type EventError struct {
	// Phase is the phase of the state, and Kind the kind of the event.
	Phase Phase
	Kind  EventKind
	// Why says what would have fitted.
	Why string
}

// Error names the phase, the event and what would have fitted.
func (e *EventError) Error() string {
	return fmt.Sprintf("event %q does not fit a run that is %s: %s", e.Kind, e.Phase, e.Why)
}
