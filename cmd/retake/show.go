package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report"
)

var showCommand = command{
	name:    "show",
	summary: "what happened in a run: a timeline of its journal, or one page of HTML",
	usage:   []string{"show [-html] [-width N] [-json] JOURNAL"},
	about: `
JOURNAL is a file, or - for standard input. Of each run it shows what it was held to, and then in order: the calls of the
model, the replies, each attempt with what was wrong with it, what was decided and why, and what is left of the budgets; the
waits to scale; the runs of tools; notes; the outcome, or what is under way. Decisions are shown as they were recorded;
"retake replay" says whether they still hold.

With -html it writes one page to standard output, which needs no network: the same, with prompts, replies, the failing parts
of the JSON, what changed between attempts, and where each value of the policy comes from. What a page or timeline leaves out
for its size, it says.

A journal that is damaged is shown up to the damage; then the exit status is 1. A last line that was cut off is what a killed
process leaves: it is told, and no damage.

JSON: one line for each entry, {"run", "line", "at_ns", "kind", "text", "more", "decision", "wait_ns", "left", "usage"}, and
after those of a run one line with its "session", "ok", "reason", "unfinished" and totals.`,
	task: func() task { return &show{} },
}

type show struct {
	journal    string
	html, json bool
	width      int
}

func (s *show) declare(fs *flag.FlagSet) {
	fs.BoolVar(&s.html, "html", false, "write a page of HTML")
	fs.BoolVar(&s.json, "json", false, "write JSON")
	fs.Func("width", "lines of at most `N` columns; the terminal's, else 100", func(text string) (err error) {
		s.width, err = count(text, math.MaxInt32)
		return err
	})
}

func (s *show) take(args []string) error {
	if len(args) != 1 {
		return misused("give one journal, a file or - for standard input, not %d", len(args))
	}
	s.journal = args[0]
	return nil
}

func (s *show) run(e *env) error {
	if s.html && s.json {
		return misused("-html and -json cannot stand together: give one of them")
	}
	in, err := s.open(e)
	if err != nil {
		return err
	}
	defer in.Close()
	p := &reading{e: e, in: in}
	err = s.write(e, p)
	p.done()
	if errors.Is(err, journal.ErrCorrupt) {
		fmt.Fprintf(e.err, "retake show: %s\n", plain(err.Error()))
		return errNotOK
	}
	return err
}

func (s *show) open(e *env) (io.ReadCloser, error) {
	if s.journal != "-" {
		return openNamed("JOURNAL", s.journal, "give a file that can be read, or - for standard input")
	}
	if e.typed {
		e.note("reading a journal from the terminal; end it with Ctrl-D")
	}
	return io.NopCloser(e.in), nil
}

func (s *show) write(e *env, p *reading) error {
	switch {
	case s.html:
		return report.HTML(e.out, p)
	case s.json:
		return report.JSON(e.out, p)
	}
	return report.Text(p.before(e.out), p, report.Style{Color: bool(e.paint), Width: s.columns()})
}

// columns is how wide a timeline may be: as asked for, as wide as the terminal, or 0 where neither is known.
func (s *show) columns() int {
	if s.width > 0 {
		return s.width
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return terminalWidth(os.Stdout)
}

// reading is a journal that is read; on a watched standard error it shows how much was.
type reading struct {
	e     *env
	in    io.Reader
	bytes int64
	shown int64
}

// readingStep is how many bytes are read between two lines of progress.
const readingStep = 4 << 20

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.bytes += int64(n)
	if r.e.watched && r.bytes-r.shown >= readingStep {
		r.shown = r.bytes
		fmt.Fprintf(r.e.err, "\r%d MiB read", r.bytes>>20)
	}
	return n, err
}

// done clears the line of progress.
func (r *reading) done() {
	if r.shown > 0 {
		fmt.Fprint(r.e.err, "\r\x1b[K")
	}
}

// before is a writer that clears the line of progress first: both may go to one terminal.
func (r *reading) before(w io.Writer) io.Writer { return clearing{r, w} }

type clearing struct {
	r *reading
	w io.Writer
}

func (c clearing) Write(p []byte) (int, error) {
	c.r.done()
	return c.w.Write(p)
}
