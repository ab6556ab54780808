package main

import (
	"flag"
	"io"
	"math"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/retake-go/retake/report"
)

var showCommand = command{
	name:    "show",
	summary: "what happened in a run: a timeline of its journal, or one page of HTML",
	usage:   []string{"show [-html] [-width N] [-json] JOURNAL"},
	about: `
JOURNAL is a file, or - for standard input. Of each run it shows the policy and config, and then in order:
the calls of the model, the replies, each attempt with what was wrong with it, what was decided and why, and
what is left of the budgets; the waits to scale; the runs of tools; notes; the outcome, or what is under
way. Decisions are shown as they were recorded; "retake replay" says whether they still hold.

With -html it writes one page to standard output, which needs no network: the same, with prompts, replies,
the failing parts of the JSON, what changed between attempts, and where each value of the policy comes from.
Calls that failed are open, all others are folded; the keys n and p go from one failure to the next. Where
something is left out for its size, it says so.

A damaged journal is shown up to the damage, and the exit status is 2. A last line that was cut off is no
damage: a killed process leaves one, and a note says so.

JSON: one line for each entry, {"run", "line", "at_ns", "kind", "text", "more", "decision", "wait_ns",
"left", "usage"}, and after those of a run one line with its "session", "ok", "reason", "unfinished" and
totals.`,
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
	if s.journal == "-" && e.typed {
		e.note("reading a journal from the terminal; end it with Ctrl-D")
	}
	in, err := e.open(s.journal)
	if err != nil {
		return err
	}
	defer in.Close()
	seen := &progress{e: e}
	defer seen.done()
	return s.write(e, &reading{in, seen})
}

func (s *show) write(e *env, in io.Reader) error {
	switch {
	case s.html:
		return report.HTML(e.out, in)
	case s.json:
		return report.JSON(e.out, in)
	}
	return report.Text(e.out, in, report.Style{Color: bool(e.paint), Width: s.columns()})
}

// columns is how wide a timeline may be: as asked for, as wide as the terminal, or 0 where neither is
// known.
func (s *show) columns() int {
	if s.width > 0 {
		return s.width
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// reading is a journal that tells how much of it was read.
type reading struct {
	in   io.Reader
	seen *progress
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	r.seen.read(int64(n))
	return n, err
}
