package scenario

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// run is what a crash takes away, and what it is made anew from.
type run struct {
	id      string
	cfg     loop.Config
	options []loop.Option
	single  *loop.Action
	session *session.Session
	runner  *loop.Runner
	// history is what a journal would hold.
	history []record
	// pending is the latest effect that asks for something.
	pending machine.Effect
	// shadow is the state that is restored from its snapshot after every step.
	shadow machine.State
	broken error
	at     time.Time
	// calls counts the calls of all replies, for their ids.
	calls int
	recorded
}

// record is one step as a journal would hold it.
type record struct{ event, effects []byte }

// begin makes the session and the runner as they are before the first event.
func (sc *story) begin() error {
	if sc.runner != nil {
		sc.runner.Close()
	}
	s, err := session.New(sc.sessionConfig(sc.id))
	if err != nil {
		return err
	}
	sc.recorded = recorded{store: &memory{}}
	options, err := sc.openJournal()
	if err != nil {
		return err
	}
	var r *loop.Runner
	if sc.single != nil {
		r, err = loop.NewActionRunner(s, sc.single, sc.record, options...)
	} else {
		r, err = loop.NewRunner(s, sc.cfg, sc.record, options...)
	}
	if err != nil {
		return err
	}
	sc.session, sc.runner, sc.history, sc.pending, sc.shadow = s, r, nil, machine.Effect{}, r.State()
	return nil
}

// record is told of every step.
func (sc *story) record(ev machine.Event, effects []machine.Effect, st machine.State) {
	r, err := encode(ev, effects)
	if err == nil && sc.restores {
		err = sc.stepShadow(r, st)
	}
	if err == nil && sc.journals {
		err = sc.take(ev, effects, st)
	}
	if err != nil && sc.broken == nil {
		sc.broken = fmt.Errorf("event %d (%s): %w", len(sc.history)+1, ev.Kind, err)
	}
	sc.history = append(sc.history, r)
	sc.tellStep(ev, effects, st)
	if n := len(effects); n > 0 && effects[n-1].Kind != machine.Decided {
		sc.pending = effects[n-1]
	}
}

func encode(ev machine.Event, effects []machine.Effect) (r record, err error) {
	if r.event, err = json.Marshal(ev); err != nil {
		return r, err
	}
	r.effects, err = json.Marshal(effects)
	return r, err
}

// crash drops the run and makes it anew. A tool that gave no answer is run again where it is declared
// read-only or idempotent.
func (sc *story) crash(*line) error {
	if err := sc.replay(); err != nil {
		return err
	}
	sc.hanging, sc.crashed = false, sc.hanging
	sc.say(fmt.Sprintf("replayed %d events, same state", len(sc.history)))
	return nil
}

// replay folds the recorded events from the beginning, and compares effects and state with those that were.
func (sc *story) replay() error {
	past := sc.history
	told := sc.told
	defer func() { sc.told = told }()
	sc.told = nil
	was, err := sc.runner.State().Snapshot()
	if err != nil {
		return err
	}
	if err := sc.begin(); err != nil {
		return err
	}
	for n, r := range past {
		var ev machine.Event
		if err := json.Unmarshal(r.event, &ev); err != nil {
			return fmt.Errorf("event %d cannot be read back: %w", n+1, err)
		}
		if _, err := sc.runner.Step(ev); err != nil {
			return fmt.Errorf("event %d does not fit when replayed: %w", n+1, err)
		}
		again := sc.history[n]
		if err := same("event", r.event, again.event); err != nil {
			return fmt.Errorf("event %d: %w", n+1, err)
		}
		if err := same("effects", r.effects, again.effects); err != nil {
			return fmt.Errorf("event %d: %w", n+1, err)
		}
	}
	is, err := sc.runner.State().Snapshot()
	if err != nil {
		return err
	}
	return same("state", was, is)
}

// stepShadow steps the restored state by the event read back from JSON, compares, and restores what comes
// out.
func (sc *story) stepShadow(r record, st machine.State) error {
	var ev machine.Event
	if err := json.Unmarshal(r.event, &ev); err != nil {
		return err
	}
	next, effects, err := machine.Step(sc.shadow, ev)
	if err != nil {
		return err
	}
	again, err := encode(ev, effects)
	if err != nil {
		return err
	}
	want, err := st.Snapshot()
	if err != nil {
		return err
	}
	got, err := next.Snapshot()
	if err != nil {
		return err
	}
	if sc.shadow, err = machine.Restore(got); err != nil {
		return err
	}
	if err := same("effects", r.effects, again.effects); err != nil {
		return err
	}
	return same("state", want, got)
}

func same(what string, was, is []byte) error {
	if bytes.Equal(was, is) {
		return nil
	}
	return fmt.Errorf("%s differs:\nwas %s\nis  %s", what, was, is)
}
