package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
)

var replayCommand = command{
	name:    "replay",
	summary: "checks whether journals lead to the same decisions with today's code",
	example: "retake replay runs/",
	usage:   []string{"replay [-since TIME] [-until TIME] [-key FILE] [-json] JOURNAL..."},
	about: `
Runs each journal through today's code, without models, tools or waits, and compares every decision and prompt
with the recorded one. It explains the first difference of a journal: the decision then and now, and each
value that changed.
` + journalArgs + `. ` + duringAbout + `

A last line that was cut off is mentioned, but it is no difference, for a killed process leaves one. Prompts
that the user's code made are taken from the record.

JSON, one line for each journal: {"journal", "ok", "report", "differs", "difference", "error"}. If today's
code refuses a recorded event, "differs" is true and "error" says why.`,
	task: newTask[replay],
}

type replay struct {
	jsonAnswer
	dated
	keyed
}

// replayed is what came of one journal.
type replayed struct {
	Journal    string                   `json:"journal"`
	OK         bool                     `json:"ok"`
	Report     *journal.Report          `json:"report,omitempty"`
	Differs    bool                     `json:"differs,omitempty"`
	Difference *journal.DifferenceError `json:"difference,omitempty"`
	Error      string                   `json:"error,omitempty"`

	place place
}

func (r *replay) run(e *env) error {
	var count struct{ ok, differs int }
	var bad []place
	err := each(e, r.places, r.Key, journal.Replay, func(p place, report journal.Report, err error) error {
		one := replayedOf(p, report, err)
		switch {
		case one.OK:
			count.ok++
		case one.Differs:
			count.differs++
		default:
			bad = append(bad, p)
		}
		if r.JSON {
			return e.json(one)
		}
		one.write(e)
		return nil
	})
	if err != nil {
		return err
	}
	if len(r.places) > 1 && !r.JSON {
		e.printf("\n%d journals: %d as recorded, %d different, %d cannot be read\n",
			len(r.places), count.ok, count.differs, len(bad))
	}
	if err := unreadable(bad, len(r.places)); err != nil || count.differs == 0 {
		return err
	}
	return errNotOK
}

func replayedOf(p place, report journal.Report, err error) replayed {
	out := replayed{Journal: p.String(), place: p, OK: err == nil, Report: &report,
		Differs: errors.Is(err, journal.ErrDiffers)}
	if _, missing := errors.AsType[*fs.PathError](err); missing {
		out.Report = nil
	}
	out.Difference, _ = errors.AsType[*journal.DifferenceError](err)
	if err != nil && out.Difference == nil {
		out.Error = err.Error()
	}
	return out
}

// write writes it for people.
func (r replayed) write(e *env) {
	name, mark, text := title(r.place), "bad    ", r.Error
	switch {
	case r.OK:
		mark, summary := e.green("same   "), e.faint(summaryOf(*r.Report))
		e.printf("%s  %s  %s\n", mark, name, summary)
		for _, text := range remarks(*r.Report) {
			e.printf("         %s\n", text)
		}
		return
	case r.Difference != nil:
		text = strings.TrimRight(r.Difference.Explain(), "\n")
	}
	if r.Differs {
		mark = "differs"
	}
	e.printf("%s  %s\n%s\n", e.red(mark), name, plainLines(indent(text)))
}

func summaryOf(r journal.Report) string {
	if r.Lines == 0 {
		return "no whole line"
	}
	text := fmt.Sprintf("session %s, %s, %s", plain(r.Session), several.Of(r.Events, "event"),
		several.Of(r.Prompts, "prompt"))
	if r.Runs > 1 {
		text += ", " + several.Of(r.Runs, "run")
	}
	return text
}

// remarks say what else a reader of a report should know.
func remarks(r journal.Report) []string {
	prompts := func(n int64) string { return several.Of(n, "prompt") }
	all := []struct {
		when bool
		text string
	}{
		{r.Torn > 0, "its last line was cut off (" + several.Of(r.Torn, "byte") +
			"): a resumed run keeps it in a note"},
		{r.Undecided, "it ends before the decision on its last event"},
		{!r.Ended && r.Lines > 0, "its last run has not ended"},
		{r.UserPrompts > 0, prompts(r.UserPrompts) +
			" made by the user's code: taken as recorded, not made again"},
		{r.Redacted, "parts were left out of it: their digests were compared"},
		{r.Unkeyed > 0, prompts(r.Unkeyed) + " not compared: give the secret key by -key"},
		{r.Compacted != nil, "it was compacted: what was before its snapshot is not there"},
	}
	var texts []string
	for _, one := range all {
		if one.when {
			texts = append(texts, one.text)
		}
	}
	return texts
}
