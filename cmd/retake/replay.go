package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/policy"
)

var replayCommand = command{
	name:    "replay",
	summary: "whether journals lead to the same decisions with today's code",
	usage:   []string{"replay [-key FILE] [-json] JOURNAL..."},
	about: `
Folds each journal through today's code, without models, tools or waits, and compares every decision and prompt with what was
recorded. The first difference of a journal is explained: what was decided and what would be now, by which rule, on which
field of the policy it hangs, and each value that changed. ` + journalArgs + `.

A last line that was cut off is what a killed process leaves: it is told, and is no difference. Prompts that the user's code
made are taken as they were recorded. The exit status is 1 where anything differs, and 2 where a journal cannot be read.

JSON, one line for each journal: {"journal", "ok", "report", "difference", "error"}.`,
	task: func() task { return &replay{} },
}

type replay struct {
	journals
	json bool
}

func (r *replay) declare(fs *flag.FlagSet) {
	fs.StringVar(&r.key, "key", "", "the secret key that redacted journals were written with: `FILE`")
	fs.BoolVar(&r.json, "json", false, "write JSON")
}

// replayed is what came of one journal.
type replayed struct {
	Journal    string          `json:"journal"`
	OK         bool            `json:"ok"`
	Report     *journal.Report `json:"report,omitempty"`
	Difference *difference     `json:"difference,omitempty"`
	Error      string          `json:"error,omitempty"`

	err error
}

// difference is a [journal.DifferenceError] or a [journal.MisfitError] as JSON.
type difference struct {
	Line        int64            `json:"line"`
	Event       int64            `json:"event"`
	Kind        string           `json:"kind"`
	Action      *string          `json:"action,omitempty"`
	Attempt     int              `json:"attempt,omitempty"`
	MaxAttempts int              `json:"max_attempts,omitempty"`
	Plane       fault.Plane      `json:"plane,omitempty"`
	Was         string           `json:"was,omitempty"`
	Now         string           `json:"now,omitempty"`
	RuleWas     policy.Reason    `json:"rule_was,omitempty"`
	RuleNow     policy.Reason    `json:"rule_now,omitempty"`
	Fields      []journal.Field  `json:"fields,omitempty"`
	Changes     []journal.Change `json:"changes,omitempty"`
	Misfit      string           `json:"misfit,omitempty"`
}

func (r *replay) run(e *env) error {
	seen := &byteProgress{e: e}
	if _, err := r.replaying(seen); err != nil {
		return err
	}
	var count struct{ ok, differs, bad int }
	err := inOrder(r.each(), func(name string) (replayed, error) { return r.one(e, name, seen), nil }, func(one replayed) error {
		seen.done()
		switch {
		case one.OK:
			count.ok++
		case one.Difference != nil:
			count.differs++
		default:
			count.bad++
		}
		if r.json {
			return e.json(one)
		}
		one.write(e)
		return nil
	})
	seen.done()
	if err != nil {
		return err
	}
	if len(r.names) > 1 && !r.json {
		fmt.Fprintf(e.out, "\n%d journals: %d as recorded, %d different, %d cannot be read\n", len(r.names), count.ok, count.differs, count.bad)
	}
	if err := unreadable(count.bad, len(r.names)); err != nil || count.differs == 0 {
		return err
	}
	return errNotOK
}

// one replays one journal.
func (r *replay) one(e *env, name string, seen *byteProgress) replayed {
	out := replayed{Journal: name}
	in, err := e.open(name)
	if err == nil {
		defer in.Close()
		var how journal.Replaying
		var report journal.Report
		if how, err = r.replaying(seen); err == nil {
			report, err = journal.Replay(in, how)
			out.Report = &report
		}
	}
	out.err, out.OK, out.Difference = err, err == nil, differenceOf(err)
	if err != nil && out.Difference == nil {
		out.Error = err.Error()
	}
	return out
}

// differenceOf is the difference that an error tells of; nil where it tells of none.
func differenceOf(err error) *difference {
	if m, ok := errors.AsType[*journal.MisfitError](err); ok {
		return &difference{Line: m.Line, Event: m.Event, Kind: string(m.Kind), Misfit: m.Err.Error()}
	}
	d, ok := errors.AsType[*journal.DifferenceError](err)
	if !ok {
		return nil
	}
	out := &difference{
		Line: d.Line, Event: d.Event, Kind: string(d.Kind), Plane: d.Plane, Was: d.Was, Now: d.Now, RuleWas: d.RuleWas, RuleNow: d.RuleNow,
		Fields: d.Fields, Changes: d.Changes,
	}
	if d.Position.Attempt > 0 {
		out.Action, out.Attempt, out.MaxAttempts = &d.Position.Action, d.Position.Attempt, d.Position.MaxAttempts
	}
	return out
}

// write shows it to people.
func (r replayed) write(e *env) {
	name := title(r.Journal)
	d, differs := errors.AsType[*journal.DifferenceError](r.err)
	switch {
	case r.OK:
		fmt.Fprintf(e.out, "%s  %s  %s\n", e.paint.green("same   "), name, e.paint.faint(summaryOf(*r.Report)))
		for _, text := range remarks(*r.Report) {
			fmt.Fprintf(e.out, "         %s\n", text)
		}
	case differs:
		fmt.Fprintf(e.out, "%s  %s\n%s\n", e.paint.red("differs"), name, plainLines(indent(strings.TrimRight(d.Explain(), "\n"))))
	case r.Difference != nil:
		fmt.Fprintf(e.out, "%s  %s\n%s\n", e.paint.red("differs"), name, plainLines(indent(r.err.Error())))
	default:
		fmt.Fprintf(e.out, "%s  %s\n%s\n", e.paint.red("bad    "), name, plainLines(indent(r.err.Error())))
	}
}

// plainLines is plain for a text of several lines.
func plainLines(s string) string {
	lines := strings.Split(s, "\n")
	for n, line := range lines {
		lines[n] = plain(line)
	}
	return strings.Join(lines, "\n")
}

func summaryOf(r journal.Report) string {
	if r.Lines == 0 {
		return "no whole line"
	}
	text := fmt.Sprintf("session %s, %s, %s", plain(r.Session), several.Of(r.Events, "event", "events"), several.Of(r.Prompts, "prompt", "prompts"))
	if r.Runs > 1 {
		text += ", " + several.Of(r.Runs, "run", "runs")
	}
	return text
}

// remarks say what a reader of a report should know.
func remarks(r journal.Report) []string {
	var all []string
	add := func(when bool, format string, args ...any) {
		if when {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(r.Torn > 0, "its last line was cut off (%s): whoever resumes it keeps that in a note", several.Of(r.Torn, "byte", "bytes"))
	add(r.Undecided, "it ends before the decision on its last event")
	add(!r.Ended && r.Lines > 0, "its last run has not ended")
	add(r.UserPrompts > 0, "%s made by the user's code: taken as recorded, not made again", several.Of(r.UserPrompts, "prompt", "prompts"))
	add(r.Redacted, "parts were left out of it: their digests were compared")
	add(r.Unkeyed > 0, "%s not compared: give the secret key by -key", several.Of(r.Unkeyed, "prompt", "prompts"))
	add(r.Compacted != nil, "it was compacted: what was before its snapshot is not there")
	return all
}
