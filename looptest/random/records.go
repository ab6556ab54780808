package random

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
)

// records keeps what was read from the journals of a case. Its runs write the same records again, and most of
// those after a crash are the ones that were written without it.
type records struct {
	mu sync.Mutex
	// known are the records, and lines the traces of steps, by their text in the journal.
	known map[string]journal.Record
	lines map[stepText]string
	// replayed are the hashes of journals that replay, without their notes.
	replayed map[string]bool
}

// stepText is a step as it stands in a journal.
type stepText struct{ event, decision string }

func newRecords() *records {
	return &records{known: map[string]journal.Record{}, lines: map[stepText]string{}, replayed: map[string]bool{}}
}

// record decodes a record, once.
func (r *records) record(raw string) (rec journal.Record, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec, ok := r.known[raw]
	if ok {
		return rec, nil
	}
	if err = canon.UnmarshalKnown([]byte(raw), &rec); err == nil {
		r.known[raw] = rec
	}
	return rec, err
}

// line makes the line of a step, once.
func (r *records) line(of stepText, ev *machine.Event, d *journal.Decision) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if line, ok := r.lines[of]; ok {
		return line, nil
	}
	line, err := machine.Trace(*ev, d.Effects, d.Said)
	if err == nil {
		r.lines[of] = timeless(line)
	}
	return r.lines[of], err
}

// replays replays a journal, unless one with the same events and decisions was.
func (r *records) replays(text, key []byte) error {
	in := journal.NewReader(bytes.NewReader(text))
	for {
		if _, err := in.Raw(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	r.mu.Lock()
	done := r.replayed[in.Hash()]
	r.mu.Unlock()
	if done {
		return nil
	}
	if _, err := journal.Replay(bytes.NewReader(text), key); err != nil {
		return fmt.Errorf("the journal does not replay: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replayed[in.Hash()] = true
	return nil
}

// recorded is what a journal says.
type recorded struct {
	steps []step
	// at is the time of the last event, but for an adjustment after a call that has no outcome.
	at time.Time
	// calling reports that a model is called, or an action is tried.
	calling bool
	// replied is the number of replies, failed calls and tries, with those that a cancelled run left. usage
	// is what the replies cost.
	replied int
	usage   message.Usage
	// runs is the number of runs that have begun, events that of all events, and adjusted that of
	// adjustments. The last event may have no step yet.
	runs, events, adjusted int
	// begun counts how often each call of a tool began.
	begun map[run]int
	// open are the calls that were asked for last and have no outcome, by what identifies them, with whether
	// they may be repeated.
	open map[run]machine.ToolRun
	// denied are the calls that said that they had no effect.
	denied map[run]bool
}

// inDoubt reports that a call began and has no outcome, and that the run goes on otherwise for that: the call
// may not be repeated, or denies an effect in whole, the journal of the same run when it went on without a
// crash. That is no word about the try that the crash cut off.
func (r *recorded) inDoubt(whole *recorded) bool {
	for id, call := range r.open {
		if r.begun[id] > 0 && (!call.Repeatable || !call.ReadOnly && whole.denied[id]) {
			return true
		}
	}
	return false
}

// ended removes the call that is returns true for, which ended so.
func (r *recorded) ended(so *machine.ToolEnd, is func(id run, call machine.ToolRun) bool) {
	broke := so.Verdict == machine.Broke && so.Failure.Plane == fault.Transport
	maps.DeleteFunc(r.open, func(id run, call machine.ToolRun) bool {
		ends := is(id, call)
		if ends && so.Verdict != machine.Done && !broke {
			r.denied[id] = true
		}
		return ends
	})
}

// journal reads a journal, which may end after an event, and goes on from what it had before it was
// compacted.
func (r *records) journal(text []byte, had recorded) (recorded, error) {
	all := had
	all.steps, all.open = slices.Clone(had.steps), maps.Clone(had.open)
	all.begun, all.denied = maps.Clone(had.begun), maps.Clone(had.denied)
	if all.at.IsZero() {
		all.begun, all.denied, all.at = map[run]int{}, map[run]bool{}, looptest.Epoch
	}
	in := journal.NewReader(bytes.NewReader(text))
	var ev *machine.Event
	var of stepText
	for {
		raw, err := in.Raw()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		rec, err := r.record(string(raw))
		switch {
		case err != nil:
			return all, err
		case rec.Event != nil:
			ev, of.event = rec.Event, string(raw)
			all.count(ev)
		case rec.Decision != nil:
			of.decision = string(raw)
			line, err := r.line(of, ev, rec.Decision)
			if err != nil {
				return all, err
			}
			all.steps = append(all.steps, step{*ev, rec.Decision.Effects, line})
			for _, e := range rec.Decision.Effects {
				all.asked(e.Tools)
				all.calling = e.Kind == machine.CallModel || e.Kind == machine.TryAction
			}
		case rec.Note != nil && rec.Note.Kind == journal.ToolBegan:
			all.begun[run{rec.Note.Key, rec.Note.Transport}]++
		case rec.Note != nil && rec.Note.Kind == journal.ResultLanded:
			landed := run{rec.Note.Key, rec.Note.Transport}
			all.ended(rec.Note.End, func(id run, _ machine.ToolRun) bool { return id == landed })
		}
	}
}

// before is how many events came before an item of a kind. An adjustment is part of what follows it: a
// message that came before it in the process is said again after a crash behind it.
func (r *recorded) before(k journal.ItemKind) int {
	if k == journal.MessageItem {
		return r.events - r.adjusted
	}
	return r.events
}

// asked takes the calls that an effect asks for.
func (r *recorded) asked(calls []machine.ToolRun) {
	if len(calls) == 0 {
		return
	}
	r.open = map[run]machine.ToolRun{}
	for _, c := range calls {
		r.open[run{c.Key, c.Transport}] = c
	}
}

func (r *recorded) count(ev *machine.Event) {
	r.events++
	if beside := ev.Kind == machine.Adjusted || ev.Said != nil && ev.Said.Late; !beside || !r.calling {
		r.at = ev.At // else the call that is made again takes its time again
	}
	switch ev.Kind {
	case machine.Adjusted:
		r.adjusted++
	case machine.Started:
		r.runs++
	case machine.ToolEnded:
		r.ended(ev.Tool, func(_ run, c machine.ToolRun) bool { return c.Index == ev.Tool.Index })
	case machine.Replied:
		r.usage = r.usage.Add(ev.Reply.Message.Usage)
		r.replied++
	case machine.Summarised:
		if ev.Summary != nil {
			r.usage = r.usage.Add(ev.Summary.Usage)
		}
	case machine.CallFailed, machine.Tried:
		r.replied++
	case machine.Cancelled, machine.Broken:
		if r.calling { // the reply is dropped
			r.replied++
		}
	}
}
