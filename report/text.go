package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// Style says how a timeline is written. The zero value has no colours and is [DefaultWidth] wide.
type Style struct {
	// Color writes ANSI colours.
	Color bool
	// Width is how many columns a line may take; 0 for [DefaultWidth]. Less than [MinWidth] counts as that.
	Width int
}

// The widths of timelines, in columns.
const (
	DefaultWidth = 100
	MinWidth     = 40
)

// Text writes the timelines of the runs of the journal that in holds, each as soon as it is read. Where the
// journal is corrupt the error is a [journal.CorruptError], and all that is before it is written; else it is
// that of in or w.
func Text(w io.Writer, in io.Reader, style Style) error {
	s := timelines(in)
	t := newTerminal(w, style)
	for {
		r, err := s.next()
		if err != nil {
			t.end(s, err)
			return errors.Join(whole(err), t.out.Flush())
		}
		t.run(r)
		if err := t.out.Flush(); err != nil {
			return err
		}
	}
}

// timelines reads the runs of a journal for timelines: each with its first and last entries.
func timelines(in io.Reader) *scan {
	fresh := func() *kept { return &kept{bounds: bounds{entries: MaxEntries}} }
	return &scan{in: journal.NewReader(in), fresh: fresh}
}

// whole is what is wrong with a journal that was read up to err.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// terminal writes timelines.
type terminal struct {
	out   *bufio.Writer
	color bool
	width int
	runs  int
}

func newTerminal(w io.Writer, style Style) *terminal {
	if style.Width == 0 {
		style.Width = DefaultWidth
	}
	out := bufio.NewWriterSize(w, 64<<10)
	return &terminal{out: out, color: style.Color, width: max(style.Width, MinWidth)}
}

// end says what there is to say after the last run.
func (t *terminal) end(s *scan, err error) {
	switch {
	case t.runs > 0:
	case len(s.in.Torn()) > 0:
		fmt.Fprintln(t.out, "no run: "+tornText(int(s.in.TornBytes())))
	case errors.Is(err, io.EOF):
		fmt.Fprintln(t.out, "no run: the journal is empty")
	}
}

func (t *terminal) run(r *run) {
	if t.runs++; t.runs > 1 {
		fmt.Fprintln(t.out)
	}
	t.head(r)
	fmt.Fprintln(t.out)
	layout := t.layout(r)
	parts := r.kept.all()
	for _, e := range parts[0] {
		layout.entry(&e)
	}
	if r.kept.omitted > 0 {
		text := fmt.Sprintf("%s left out: a timeline has at most %d", many(r.kept.omitted, "entry"), MaxEntries)
		layout.row("", "…", "2", text)
	}
	for _, e := range parts[1] {
		layout.entry(&e)
	}
	t.foot(r, layout)
}

// head says what a run was held to.
func (t *terminal) head(r *run) {
	title := fmt.Sprintf("%s  run %d", line(r.header.Session), r.number)
	if !r.begun.IsZero() {
		title += "  " + r.begun.UTC().Format("2006-01-02 15:04:05 MST")
	}
	for _, text := range wrap(title, t.width) {
		fmt.Fprintln(t.out, t.paint("1", text))
	}
	for _, row := range r.about() {
		for n, text := range wrap(row[1], t.width-11) {
			name := row[0]
			if n > 0 {
				name = ""
			}
			fmt.Fprintf(t.out, "%s %s\n", t.paint("2", fmt.Sprintf("%-9s", name)), text)
		}
	}
}

// about are the rows of a run's head.
func (r *run) about() [][2]string {
	h := &r.header
	rows := [][2]string{{"format", h.Format}}
	add := func(name, text string) {
		if text != "" {
			rows = append(rows, [2]string{name, line(text)})
		}
	}
	if seed := h.Seed(); seed != "" {
		add("seed", fmt.Sprintf("%q", seed))
	}
	for _, p := range h.Resolved {
		add("policy", policyTitle(p.Action, p.Transport)+": "+policyText(p.Explanation, p.Transport))
	}
	add("budgets", budgetText(&h.Config))
	var names []string
	for _, tool := range h.Tools {
		names = append(names, tool.Name)
	}
	add("tools", strings.Join(names, ", "))
	if !h.Config.Deadline.IsZero() {
		add("deadline", h.Config.Deadline.UTC().Format(time.RFC3339Nano))
	}
	add("mode", modeText(h))
	return rows
}

// modeText says what is special about a run.
func modeText(h *journal.Header) string {
	var parts []string
	for _, p := range []struct {
		is   bool
		text string
	}{
		{h.Config.Single, "the tries of one action"}, {h.Config.CallsOnly, "calls are the answer"},
		{h.Output != "", "structured answer"}, {h.Config.UserPrompt, "prompts made by code"},
		{h.Config.Planner, "with a planner"}, {h.Redaction != nil, "redacted"}, {h.Compacted != nil, "compacted"},
	} {
		if p.is {
			parts = append(parts, p.text)
		}
	}
	return strings.Join(parts, ", ")
}

// always are the fields of a policy that are named even where they have their default.
var always = map[string]bool{"max_attempts": true, "backoff": true}

// policyText is a policy in short: what was said of it that is not the default.
func policyText(e policy.Explanation, transport bool) string {
	_, defaults := policy.Resolve(policy.Set{}, "")
	if transport {
		_, defaults = policy.ResolveTransport(policy.Set{})
	}
	var parts []string
	for _, row := range e {
		same := slices.ContainsFunc(defaults, func(d policy.Explained) bool {
			return d.Field == row.Field && d.Value == row.Value
		})
		if same && row.Source == "" && !always[row.Field] {
			continue
		}
		part := row.Field + " " + row.Value
		if row.Source != "" {
			part += " (" + row.Source + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

func budgetText(c *machine.Config) string {
	b := c.Policy.Budgets
	return fmt.Sprintf("tool %s, run %s, unknown tools %s; turns %s; calls in a reply %s",
		countOf(b.Tool, 0), countOf(b.Run, 0), countOf(b.UnknownTools, 0),
		countOf(c.Policy.MaxTurns, 0), countOf(c.Policy.MaxCalls, 0))
}

// foot says how a run ended, or what is under way, and what it took.
func (t *terminal) foot(r *run, l *layout) {
	if text := r.underWay(); text != "" {
		l.row("", "open", "33", text)
	}
	fmt.Fprintln(t.out)
	for _, text := range wrap(r.totals.String(), t.width) {
		fmt.Fprintln(t.out, t.paint("2", text))
	}
}

// underWay says what a run without an end waits for; empty where it has ended.
func (r *run) underWay() string {
	switch {
	case r.outcome != nil && r.undecided == "":
		return ""
	case r.undecided != "":
		return fmt.Sprintf("unfinished: the event %q came in, and what was made of it is not recorded",
			line(string(r.undecided)))
	case r.asked.Kind == "":
		return "unfinished: nothing was begun"
	case r.asked.Kind == machine.RunTools && len(r.tools) > 0:
		var names []string
		for _, index := range r.order() {
			names = append(names, r.tools[index].Tool)
		}
		return "unfinished: under way are " + line(strings.Join(names, ", "))
	case r.asked.Kind == machine.WaitUntil:
		until := r.asked.Wait.Until.UTC().Format(time.RFC3339Nano)
		return fmt.Sprintf("unfinished: %s, until %s", line(r.asked.String()), until)
	}
	return "unfinished: " + line(r.asked.String())
}

// usage is what an entry used, as it stands behind a line; empty where it was told before.
func (e *entry) usage() string {
	if text := usageText(e.Usage); text != "" && !e.told {
		return "; " + text
	}
	return ""
}

func (t *terminal) paint(code, text string) string {
	if !t.color || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
