package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// run is what a crash destroys, and what the run is made from again.
type run struct {
	id  string
	cfg loop.Config
	// deadline is the end of the run's time; zero means none.
	deadline time.Time
	options  []loop.Option
	single   *loop.Action
	session  *session.Session
	runner   *engine.Runner
	// store has the journal of the session.
	store   *looptest.Store
	journal *journal.Journal
	// trace has a line for each event that the journal must hold, said is how much of the transcript is in
	// it.
	trace [][]byte
	said  int
	tale  *Told
	// between are the lengths of the journal before each step of reducers since the last crash.
	between []int
	// pending is the latest effect that asks for something.
	pending machine.Effect
	broken  error
	at      time.Time
	// calls counts the calls of all replies, for their ids.
	calls int
	// asked are the last questions about calls, by their ids.
	asked map[string]string
}

// begin makes the session, its journal and the runner as they are before the first event.
func (sc *story) begin() error {
	if sc.runner != nil {
		sc.runner.Close()
	}
	sc.store, sc.trace, sc.said, sc.between = &looptest.Store{}, nil, 0, nil
	s, err := sc.opened()
	if err != nil {
		return err
	}
	var m machine.Config
	if sc.single != nil {
		m, err = sc.single.Machine(sc.options...)
	} else {
		m, err = sc.cfg.Machine(sc.options...)
	}
	if err != nil {
		return err
	}
	of := engine.RunnerConfig{Session: s, Offer: sc.offer(), Record: sc.record}
	if m.Deadline = sc.deadline; len(sc.around) > 0 {
		m.RequestID = sc.id
	}
	if of.Machine, err = machine.Compile(&m); err != nil {
		return err
	}
	r, err := engine.New(of)
	if err != nil {
		return err
	}
	sc.session, sc.runner, sc.pending = s, r, machine.Effect{}
	return nil
}

// offer is what the replies of the story are checked against; nothing for the tries of an action.
func (sc *story) offer() engine.Offer {
	if sc.single != nil {
		return engine.Offer{}
	}
	return engine.Offer{Tools: sc.cfg.Tools, Output: sc.cfg.Output, CallsOnly: sc.cfg.CallsOnly,
		Estimate: sc.cfg.Estimate}
}

// opened opens the journal, and makes the session with it.
func (sc *story) opened() (*session.Session, error) {
	var err error
	sc.journal, err = journal.Open(context.Background(), sc.store, sc.id, journal.Settings{})
	if err != nil {
		return nil, err
	}
	of := sc.sessionConfig(sc.id)
	of.Journal = sc.journal
	return session.New(of)
}

// record is called for every step.
func (sc *story) record(ev machine.Event, effects []machine.Effect, st machine.State) {
	line, err := machine.Trace(ev, effects, st.TranscriptFrom(sc.said))
	if sc.trace = append(sc.trace, line); err != nil && sc.broken == nil {
		sc.broken = fmt.Errorf("event %d (%s): %w", len(sc.trace), ev.Kind, err)
	}
	sc.said = st.TranscriptLen()
	sc.tellStep(ev, effects, st)
	if n := len(effects); n > 0 && effects[n-1].Kind != machine.Decided {
		sc.pending = effects[n-1]
	}
	for _, a := range st.Asks() {
		if sc.asked == nil {
			sc.asked = map[string]string{}
		}
		sc.asked[a.CallID], sc.asked[""] = a.ID, a.ID
	}
	if sc.pending.Kind == machine.Reduce {
		sc.between = append(sc.between, len(sc.store.Text(sc.id)))
	}
}

// crash drops the run and resumes it. A tool that gave no answer runs again if it is declared read-only or
// idempotent.
func (sc *story) crash(*line) error {
	if err := sc.takeUpAll(); err != nil {
		return err
	}
	sc.hanging, sc.crashed = false, sc.hanging
	sc.say(fmt.Sprintf("replayed %d events, same state", len(sc.trace)))
	return nil
}

// takeUp resumes from the journal, as another process would. The journal must replay and have all that the
// run did, and the state must be the same.
func (sc *story) takeUp() error {
	if err := sc.journal.Close(); err != nil {
		return err
	}
	text := sc.store.Text(sc.id)
	if _, err := journal.Replay(bytes.NewReader(text), nil); err != nil {
		return fmt.Errorf("replaying: %w", err)
	}
	var trace bytes.Buffer
	if err := journal.Trace(bytes.NewReader(text), &trace); err != nil {
		return err
	}
	did := append(bytes.Join(sc.trace, []byte("\n")), '\n')
	if err := same("trace", did, trace.Bytes()); err != nil {
		return err
	}
	was, err := sc.runner.State().Snapshot()
	if err != nil {
		return err
	}
	sc.runner.Close()
	if err := sc.crashBetween(text, was); err != nil {
		return err
	}
	return sc.resume(sc.record, was)
}

// crashBetween resumes from the journal as it stood before each step of reducers: the runner makes these
// steps without an event from outside, so the state must be the same.
func (sc *story) crashBetween(text, want []byte) error {
	whole := sc.run
	defer func() { sc.run = whole }()
	for _, length := range whole.between {
		sc.store = &looptest.Store{}
		log, err := sc.store.Open(context.Background(), sc.id)
		if err != nil {
			return err
		}
		if err := errors.Join(log.Append(context.Background(), 0, text[:length], false), log.Close()); err != nil {
			return err
		}
		if err := sc.resume(nil, want); err != nil {
			return fmt.Errorf("after a crash before reducers ran: %w", err)
		}
		sc.runner.Close()
	}
	whole.between = nil
	return nil
}

// resume makes a session and its runner from the journal. The state must be the given one.
func (sc *story) resume(record func(machine.Event, []machine.Effect, machine.State), want []byte) error {
	s, err := sc.opened()
	if err != nil {
		return err
	}
	sc.session = s
	of := engine.RunnerConfig{Session: s, Offer: sc.offer(), Record: record, Now: looptest.Epoch}
	if sc.runner, err = engine.New(of); err != nil {
		return err
	}
	if _, err = sc.runner.Next(); err != nil {
		return err
	}
	is, err := sc.runner.State().Snapshot()
	if err != nil {
		return err
	}
	return same("state", want, is)
}

func same(what string, was, is []byte) error {
	if bytes.Equal(was, is) {
		return nil
	}
	return fmt.Errorf("%s differs:\nwas %s\nis  %s", what, was, is)
}
