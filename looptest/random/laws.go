package random

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// laws reports which of the laws that hold for every engine the runs of the world broke. Those of journals
// are in [World.ReadJournal].
func (w *World) laws() error {
	broken := []error{w.runsOnce(), w.isPaid(), w.agentsLaws()}
	for _, end := range w.ends {
		broken = append(broken, answered(end.Result))
	}
	return errors.Join(broken...)
}

// runsOnce reports a run of an undeclared tool that nothing asked for: the steps ask for each run, and a run
// that began before a crash is not made again.
func (w *World) runsOnce() error {
	if w.redacted || len(w.steps) == 0 {
		return nil // the keys in a redacted journal are others
	}
	asked := map[run]int{}
	for _, s := range w.steps {
		for _, e := range s.effects {
			for _, c := range e.Tools {
				asked[run{c.Key, c.Transport}]++
			}
		}
	}
	for r, n := range w.runs {
		if all := n + w.begun[r]; all > asked[r] {
			return fmt.Errorf("an undeclared tool was run %d times and asked for %d times: call %s, request %d",
				all, asked[r], r.Key, r.Transport)
		}
	}
	return nil
}

// answered reports a native call of the conversation that has no result, or several.
func answered(r loop.Result) error {
	said := r.Transcript
	if len(r.Calls) > 0 && len(said) > 0 { // the last message is the answer
		said = said[:len(said)-1]
	}
	for n, m := range said {
		var want, got []string
		for _, c := range m.Calls {
			want = append(want, c.ID)
		}
		for _, next := range said[n+1:] {
			if next.Role == message.Assistant {
				break
			}
			if next.Role == message.Tool {
				got = append(got, next.CallID)
			}
		}
		if m.Role == message.Assistant && !slices.Equal(want, got) {
			return fmt.Errorf("message %d calls %q, and results came for %q", n+1, want, got)
		}
	}
	return nil
}

// isPaid reports a usage that is not that of the replies.
func (w *World) isPaid() error {
	var paid message.Usage
	for _, end := range w.ends {
		if _, exhausted := errors.AsType[*loop.RetryExhaustedError](end.err); end.err != nil && !exhausted {
			return nil
		}
		if w.Case.Nests() && (len(end.InDoubt) > 0 || w.leavesCalls()) { // it did not wait for an agent, which goes on
			return nil
		}
		paid = paid.Add(end.Usage)
	}
	if w.Case.Action == nil && paid != w.usage {
		return fmt.Errorf("the usage is %+v, and the replies cost %+v", paid, w.usage)
	}
	return nil
}

// leavesCalls reports whether a run ended while calls of its tools were under way.
func (w *World) leavesCalls() bool {
	return slices.ContainsFunc(w.steps, func(s step) bool { return len(s.event.Begun) > 0 })
}

// agentsLaws report an agent's journal that does not replay, an undeclared call that was made twice, and a
// doubt that the runs around it do not have.
func (w *World) agentsLaws() error {
	for r, n := range w.dug {
		if all := n + w.begun[r]; all > 1 {
			return fmt.Errorf("an undeclared tool of an agent was run %d times: call %s, request %d", all, r.Key, r.Transport)
		}
	}
	ids, err := w.Store.List(context.Background())
	for _, id := range ids {
		if id == w.Session.ID {
			continue
		}
		text := w.Store.Text(id)
		replay := w.records.replays(text, w.Case.Redact.Key)
		f, last := journal.Last(context.Background(), w.Store, id)
		if err := errors.Join(replay, last); err != nil {
			return fmt.Errorf("the agent %s: %w", id, err)
		}
		if o := f.State.Outcome; o != nil && len(o.InDoubt) > 0 && !w.toldOf(id) {
			return fmt.Errorf("the agent %s left %d calls in doubt, and the run around it none", id, len(o.InDoubt))
		}
	}
	return err
}

// toldOf reports whether the run around an agent has a call in doubt. It must be the last of its session.
func (w *World) toldOf(id string) bool {
	outer := id
	for range 3 {
		outer = outer[:strings.LastIndexByte(outer, '.')]
	}
	f, err := journal.Last(context.Background(), w.Store, outer)
	if err != nil {
		return false
	}
	var runs, turn, call int
	if _, err := fmt.Sscanf(id[len(outer):], ".%d.%d.%d", &runs, &turn, &call); err != nil || runs != f.State.Run {
		return err == nil // another run of the session is asked about
	}
	o := f.State.Outcome
	return o == nil || len(o.InDoubt) > 0
}
