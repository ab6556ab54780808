package report

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/internal/told"
)

// Style is the style of a timeline. The zero value has no colours and is 100 columns wide.
type Style struct {
	// Color writes ANSI colours.
	Color bool
	// Width is the most columns of a line; 0 for 100, and at least 40.
	Width int
	// Children finds the sessions of agents that are tools, whose timelines are shown under their calls; may
	// be nil.
	Children Children
}

// The widths of timelines, in columns.
const (
	defaultWidth = 100
	minWidth     = 40
)

// Text writes the timeline of each run of a journal, as soon as the run is read. If the journal is corrupt,
// it writes everything before the damage and returns a [journal.CorruptError]. Other errors are those of in
// and w.
func Text(w io.Writer, in io.Reader, style Style) error {
	return newTerminal(w, style).all(in)
}

func (t *terminal) all(in io.Reader) error {
	s := timelines(in)
	s.nests = t.children != nil
	for r := range s.all() {
		t.run(r)
		if err := t.out.Flush(); err != nil {
			return err
		}
	}
	return t.end(s)
}

// timelines reads the runs of a journal, each with its first and last entries.
func timelines(in io.Reader) *scan {
	return &scan{in: journal.NewReader(in), begin: func(r *run) { r.kept = &kept{entries: maxEntries} }}
}

// terminal writes timelines.
type terminal struct {
	out   *bufio.Writer
	color bool
	width int
	runs  int
	// times is the width of the column of times. longest is the wait with the longest bar.
	times   int
	longest time.Duration
	// children finds nested sessions, and depth is how many timelines are around this one.
	children Children
	depth    int
}

func newTerminal(w io.Writer, style Style) *terminal {
	width := max(cmp.Or(style.Width, defaultWidth), minWidth)
	return &terminal{out: bufio.NewWriterSize(w, 64<<10), color: style.Color, width: width,
		children: style.Children}
}

// end says so if there was no run, and returns the errors of the journal and of the output.
func (t *terminal) end(s *scan) error {
	err := s.fault()
	switch {
	case t.runs > 0:
	case s.in.TornBytes() > 0:
		fmt.Fprintln(t.out, "no run: "+tornText(s.in.TornBytes()))
	case err == nil:
		fmt.Fprintln(t.out, "no run: the journal is empty")
	}
	return errors.Join(err, t.out.Flush())
}

func (t *terminal) run(r *run) {
	t.times, t.longest = 0, r.longest
	for e := range r.kept.all() {
		t.times = max(t.times, columnsOf(e.When()))
	}
	t.head(r)
	for n := range r.kept.head {
		t.entry(&r.kept.head[n])
	}
	if n := r.kept.omitted; n > 0 {
		text := fmt.Sprintf("%s left out: a timeline has at most %d", several.Of(n, "entry"), maxEntries)
		t.row("", "…", faint, text)
	}
	for n := range r.kept.tail {
		t.entry(&r.kept.tail[n])
	}
	t.foot(r)
}

// head writes the title of a run, its policies and its config.
func (t *terminal) head(r *run) {
	if t.runs++; t.runs > 1 {
		fmt.Fprintln(t.out)
	}
	title := fmt.Sprintf("%s  run %d", told.Line(r.header.Session), r.number)
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

// foot writes what is under way in an unfinished run, and the totals.
func (t *terminal) foot(r *run) {
	if text := r.underWay(); text != "" {
		t.row("", "open", yellow, unfinished+text)
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
	t.nested(e)
}

// room returns how many columns there are for text.
func (t *terminal) room() int { return max(20, t.width-t.times-wordWidth-4) }

// row writes a line, and wraps its text.
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

// bar returns the bar of a wait, of at least one block. The longest wait fills the room.
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

// about returns the rows at the head of a run: its policies and its config.
func (r *run) about() [][2]string {
	h := &r.header
	rows := [][2]string{{"format", h.Format}}
	add := func(name, text string) {
		if text != "" {
			rows = append(rows, [2]string{name, told.Line(text)})
		}
	}
	if seed := h.Seed(); seed != "" {
		add("seed", fmt.Sprintf("%q", seed))
	}
	for _, p := range h.Policies() {
		add("policy", p.String()+": "+policyText(h.Config.Policy.Explain(p)))
	}
	of := h.Config.Policy
	add("budgets", fmt.Sprintf("tool %s, run %s, unknown tools %s; turns %s; calls in a reply %s",
		limitText(of.Budgets.Tool), limitText(of.Budgets.Run), limitText(of.Budgets.UnknownTools),
		limitText(of.MaxTurns), limitText(of.MaxCalls)))
	add("tools", listed(h.Tools, func(t journal.Tool) string { return t.Name }))
	if !h.Config.Deadline.IsZero() {
		add("deadline", h.Config.Deadline.UTC().Format(time.RFC3339Nano))
	}
	add("mode", modeText(h))
	return rows
}

// modeText names the special settings of a run.
func modeText(h *journal.Header) string {
	return joined(", ",
		when(h.Config.Single, "the tries of one action"), when(h.Config.CallsOnly, "calls are the answer"),
		when(h.Output != "", "structured answer"), when(h.Config.UserPrompt, "prompts made by code"),
		when(h.Config.Planner, "with a planner"), when(h.Redaction != nil, "redacted"),
		when(h.Compacted != nil, "compacted"))
}

// always are the fields of a policy that are shown even if they have their default.
var always = map[string]bool{"max_attempts": true, "backoff": true}

// policyText returns a policy in short: the fields that somebody has set.
func policyText(e policy.Explanation) string {
	var parts []string
	for _, row := range e {
		if row.Layer != policy.LayerDefault || always[row.Field] {
			parts = append(parts, row.Field+" "+row.Value+bracketed(row.Source))
		}
	}
	return strings.Join(parts, "; ")
}
