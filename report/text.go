package report

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/retake-go/retake/journal"
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
	s, t := timelines(in), newTerminal(w, style)
	for {
		r, err := s.next()
		if err != nil {
			t.end(s, err)
			return errors.Join(readError(err), t.out.Flush())
		}
		t.run(r)
		if err := t.out.Flush(); err != nil {
			return err
		}
	}
}

// timelines reads the runs of a journal for timelines: each with its first and last entries.
func timelines(in io.Reader) *scan {
	return &scan{in: journal.NewReader(in), begin: func(r *run) { r.kept = &kept{entries: MaxEntries} }}
}

// terminal writes timelines.
type terminal struct {
	out   *bufio.Writer
	color bool
	width int
	runs  int
	// times is the width of the column of times; longest is the wait that has the longest bar.
	times   int
	longest time.Duration
}

func newTerminal(w io.Writer, style Style) *terminal {
	width := max(cmp.Or(style.Width, DefaultWidth), MinWidth)
	return &terminal{out: bufio.NewWriterSize(w, 64<<10), color: style.Color, width: width}
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
	t.times, t.longest = 0, r.longest
	for _, part := range [][]entry{r.kept.head, r.kept.tail} {
		for _, e := range part {
			t.times = max(t.times, columnsOf(e.When()))
		}
	}
	t.head(r)
	for n := range r.kept.head {
		t.entry(&r.kept.head[n])
	}
	if n := r.kept.omitted; n > 0 {
		t.row("", "…", faint, fmt.Sprintf("%s left out: a timeline has at most %d", many(n, "entry"), MaxEntries))
	}
	for n := range r.kept.tail {
		t.entry(&r.kept.tail[n])
	}
	t.foot(r)
}

// head says what a run was held to.
func (t *terminal) head(r *run) {
	if t.runs++; t.runs > 1 {
		fmt.Fprintln(t.out)
	}
	title := fmt.Sprintf("%s  run %d", line(r.header.Session), r.number)
	if !r.begun.IsZero() {
		title += "  " + r.begun.UTC().Format("2006-01-02 15:04:05 MST")
	}
	for _, text := range wrap(title, t.width) {
		fmt.Fprintln(t.out, t.paint(bold, text))
	}
	for _, row := range r.about() {
		for n, text := range wrap(row[1], t.width-11) {
			if n > 0 {
				row[0] = ""
			}
			fmt.Fprintf(t.out, "%s %s\n", t.paint(faint, fmt.Sprintf("%-9s", row[0])), text)
		}
	}
	fmt.Fprintln(t.out)
}

// foot says how a run ended, or what is under way, and what it took.
func (t *terminal) foot(r *run) {
	if text := r.underWay(); text != "" {
		t.row("", "open", yellow, text)
	}
	fmt.Fprintln(t.out)
	for _, text := range wrap(r.totals.String(), t.width) {
		fmt.Fprintln(t.out, t.paint(faint, text))
	}
}

// wordWidth is the width of the column of words.
const wordWidth = 8

// entry writes one entry.
func (t *terminal) entry(e *entry) {
	word, colour := e.word()
	text := e.Text
	if e.Kind == waiting {
		column := max(min(12, t.room()/2), columnsOf(text)) + 1
		text += strings.Repeat(" ", column-columnsOf(text))
		text += t.paint(cyan, bar(e.Wait, t.longest, t.room()-column))
		t.line(e.When(), word, colour, text)
		return
	}
	t.row(e.When(), word, colour, joined("; ", text, e.Uses()))
	for _, more := range e.More {
		t.more("", more)
	}
	if e.Left != nil {
		t.more(faint, e.Left.String())
	}
}

// room is how many columns there are for what there is to say.
func (t *terminal) room() int { return max(20, t.width-t.times-wordWidth-4) }

// row writes a line, and below it what does not fit.
func (t *terminal) row(at, word, colour, text string) {
	lines := append(wrap(text, t.room()), "")
	t.line(at, word, colour, lines[0])
	for _, rest := range lines[1:] {
		t.more("", rest)
	}
}

func (t *terminal) line(at, word, colour, text string) {
	at = t.paint(faint, fmt.Sprintf("%*s", t.times, at))
	word = t.paint(colour, fmt.Sprintf("%-*s", wordWidth, word))
	fmt.Fprintln(t.out, strings.TrimRight(at+"  "+word+"  "+text, " "))
}

// more writes lines under the text of an entry.
func (t *terminal) more(colour, text string) {
	for _, part := range wrap(text, t.room()) {
		fmt.Fprintf(t.out, "%*s%s\n", t.times+wordWidth+4, "", t.paint(colour, part))
	}
}

// maxBar is the length of the longest bar, in columns.
const maxBar = 40

// bar is a bar for d where the longest is as long as there is room; whatever is waited at all shows.
func bar(d, longest time.Duration, room int) string {
	if d <= 0 || longest <= 0 || room < 1 {
		return ""
	}
	return strings.Repeat("█", max(1, share(d, longest, min(maxBar, room))))
}

func (t *terminal) paint(code, text string) string {
	if !t.color || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// about are the rows of a run's head: what it was held to.
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
		add("policy", policyTitle(p.Action, p.Transport)+": "+policyText(p.Explanation))
	}
	of := h.Config.Policy
	add("budgets", fmt.Sprintf("tool %s, run %s, unknown tools %s; turns %s; calls in a reply %s",
		count(of.Budgets.Tool), count(of.Budgets.Run), count(of.Budgets.UnknownTools), count(of.MaxTurns),
		count(of.MaxCalls)))
	add("tools", listed(h.Tools, func(t journal.Tool) string { return t.Name }))
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

// policyText is a policy in short: what was said of it.
func policyText(e policy.Explanation) string {
	var parts []string
	for _, row := range e {
		if row.Layer != policy.LayerDefault || always[row.Field] {
			parts = append(parts, row.Field+" "+row.Value+bracketed(row.Source))
		}
	}
	return strings.Join(parts, "; ")
}
