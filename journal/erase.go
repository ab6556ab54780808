package journal

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// places collects where something is to be left out, as parts of JSON Pointers.
type places [][]string

func (p *places) add(parts ...string) { *p = append(*p, parts) }

// under adds pointers below a place.
func (p *places) under(place []string, pointers []string) {
	for _, one := range pointers {
		if parts, ok := parsePointer(one); ok {
			p.add(slices.Concat(place, parts)...)
		}
	}
}

// event is an event with marks in the place of what is left out. before is the state that it comes to.
func (e *eraser) event(ev Event, before machine.State, known []Tool) (Event, error) {
	raw, err := canon.Marshal(ev)
	if err != nil {
		return ev, err
	}
	raw, err = e.erase(raw, e.ofEvent(&ev, before, known))
	if err != nil {
		return ev, err
	}
	var left Event
	err = canon.UnmarshalKnown(raw, &left)
	return left, err
}

func (e *eraser) ofEvent(ev *Event, before machine.State, known []Tool) places {
	var p places
	if e.Prompts {
		p.add("messages", "*", "text")
		p.add("messages", "*", "calls", "*", "arguments")
		p.add("system")
		p.add("plan", "prompt")
	}
	if r := ev.Reply; r != nil {
		e.ofReply(&p, r, known)
	}
	if end := ev.Tool; end != nil && before.Batch != nil && end.Index >= 0 && end.Index < len(before.Batch.Calls) {
		e.ofToolEnd(&p, []string{"tool"}, before.Batch.Calls[end.Index].Tool, end)
	}
	e.ofReduced(&p, ev.Reduced, false, "reduced")
	return p
}

// ofReply are the places of a reply. The words of a call stand in it up to three times: as the model wrote them, as they were
// read, and, where the call was found in the text, there.
func (e *eraser) ofReply(p *places, r *machine.Reply, known []Tool) {
	if e.Replies {
		p.add("reply", "message", "text")
		p.add("reply", "message", "refusal")
		p.add("reply", "message", "opaque")
	}
	for n, c := range r.Calls {
		rules, ok := e.tool(c.Tool)
		if !ok {
			continue
		}
		at := strconv.Itoa(n)
		p.under([]string{"reply", "calls", at, "arguments"}, rules.Arguments)
		p.add("reply", "calls", at, "raw")
		p.add("reply", "message", "opaque")
		if !r.Native {
			p.add("reply", "message", "text")
		}
	}
	for n, c := range r.Message.Calls {
		plain := slices.ContainsFunc(known, func(t Tool) bool { return t.Name == c.Name })
		if _, ok := e.tool(c.Name); ok || (!plain && len(e.Tools) > 0) {
			p.add("reply", "message", "calls", strconv.Itoa(n), "arguments")
		}
	}
	if a := r.Answer; a != nil {
		if len(e.Answer) > 0 {
			p.under([]string{"reply", "answer", "value"}, e.Answer)
			p.add("reply", "message", "text")
			p.add("reply", "message", "opaque")
		}
		e.ofReduced(p, a.Reduced, len(e.Answer) > 0, "reply", "answer", "reduced")
	}
}

func (e *eraser) ofToolEnd(p *places, at []string, name string, end *machine.ToolEnd) {
	rules, ok := e.tool(name)
	if ok {
		p.under(slices.Concat(at, []string{"result"}), rules.Result)
		p.add(slices.Concat(at, []string{"progress"})...)
		p.add(slices.Concat(at, []string{"text"})...)
	}
	e.ofReduced(p, end.Reduced, ok, slices.Concat(at, []string{"reduced"})...)
}

// ofReduced are the places of what reducers made: of the slices that are named, and of all where what they were given has rules.
func (e *eraser) ofReduced(p *places, r *machine.Reduced, all bool, at ...string) {
	if r == nil {
		return
	}
	for n, op := range r.Ops {
		if all || slices.Contains(e.Slices, op.Slice) {
			p.add(slices.Concat(at, []string{"ops", strconv.Itoa(n), "values", "*"})...)
		}
	}
	if all || len(e.Slices) > 0 {
		p.add(slices.Concat(at, []string{"error", "payload"})...)
	}
}

// state is a session's snapshot with marks: of the slices that are named; of all where tools or the answer have rules, for
// nobody can tell what came of them.
func (e *eraser) state(snapshot []byte) ([]byte, error) {
	var w struct {
		Slices []struct {
			Name string `json:"name"`
		} `json:"slices"`
	}
	if err := canon.Unmarshal(snapshot, &w); err != nil {
		return nil, err
	}
	var p places
	for n, s := range w.Slices {
		if len(e.Tools) > 0 || len(e.Answer) > 0 || slices.Contains(e.Slices, s.Name) {
			p.add("slices", strconv.Itoa(n), "values", "*")
		}
	}
	p.add("reducer_errors", "*", "payload")
	return e.erase(snapshot, p)
}

// note is a note with marks.
func (e *eraser) note(n Note, runs []machine.ToolRun) (Note, error) {
	var p places
	switch {
	case n.Landed != nil:
		if at := slices.IndexFunc(runs, func(r machine.ToolRun) bool { return r.Key == n.Landed.Key }); at >= 0 {
			e.ofToolEnd(&p, []string{"landed", "end"}, runs[at].Tool, &n.Landed.End)
			if _, ok := e.tool(runs[at].Tool); ok {
				p.add("landed", "events", "*", "payload")
			}
		}
	case n.Progress != nil:
		if _, ok := e.tool(n.Progress.Tool); ok {
			p.add("progress", "progress")
		}
	}
	raw, err := canon.Marshal(n)
	if err != nil {
		return n, err
	}
	if raw, err = e.erase(raw, p); err != nil {
		return n, err
	}
	var left Note
	err = canon.UnmarshalKnown(raw, &left)
	return left, err
}

// restore puts back what marks stand for.
func restore(ctx context.Context, from Transcripts, session string, raw []byte) ([]byte, error) {
	return rewrite(raw, nil, func(_ []string, value jsontext.Value) ([]byte, error) {
		if value.Kind() != '"' {
			return nil, nil
		}
		text, err := unquote(value)
		if err != nil {
			return nil, err
		}
		m, ok := parseMark(text)
		if !ok {
			return nil, nil
		}
		left, err := from.Lookup(ctx, session, m.Digest)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: what is left out as %s cannot be had: %w", ErrRedacted, m.Digest, err)
		case m.JSON:
			return left, nil
		}
		return canon.Marshal(string(left))
	})
}
