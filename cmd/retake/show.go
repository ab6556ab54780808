package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/retake-go/retake/report"
)

var showCommand = command{
	name:    "show",
	summary: "what happened in a run: a timeline of its journal, or one page of HTML",
	usage:   []string{"show [-html] [-follow] [-width N] [-json] JOURNAL"},
	about: `
JOURNAL is a file, or - for standard input. Of each run it shows the policy and config, and then in order:
the calls of the model, the replies, each attempt with what was wrong with it, what was decided and why, and
what is left of the budgets; the waits to scale; the runs of tools; notes; the outcome, or what is under
way. Decisions are shown as they were recorded; "retake replay" says whether they still hold.

With -html it writes one page to standard output, which needs no network: the same, with prompts, replies,
the failing parts of the JSON, what changed between attempts, and where each value of the policy comes from.
Calls that failed are open, all others are folded; the keys n and p go from one failure to the next. Where
something is left out for its size, it says so.

With -follow it shows a journal that is still being written, as it is written, and ends with the run or at
an interrupt. A file that was replaced or cut off meanwhile is an error.

A damaged journal is shown up to the damage, and the exit status is 2. A last line that was cut off is no
damage: a killed process leaves one, and a note says so.

JSON: one line for each entry, {"run", "line", "at_ns", "kind", "text", "more", "decision", "wait_ns",
"left", "usage"}, and after those of a run one line with its "session", "ok", "reason", "unfinished" and
totals.`,
	task: func() task { return &show{} },
}

type show struct {
	journal            string
	html, json, follow bool
	width              int
}

func (s *show) declare(fs *flag.FlagSet) {
	fs.BoolVar(&s.html, "html", false, "write a page of HTML")
	fs.BoolVar(&s.json, "json", false, "write JSON")
	fs.BoolVar(&s.follow, "follow", false, "go on with what is written, until the run has ended")
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
	if s.follow && (s.html || s.json) {
		return misused("-follow is for a timeline: leave out -html and -json")
	}
	if s.journal == "-" && e.typed {
		e.note("reading a journal from the terminal; end it with Ctrl-D")
	}
	in, err := e.open(s.journal)
	if err != nil {
		return err
	}
	defer in.Close()
	if s.follow {
		return s.followed(e, in)
	}
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
	return report.Text(e.out, in, s.style(e))
}

func (s *show) style(e *env) report.Style {
	return report.Style{Color: bool(e.paint), Width: s.columns()}
}

// pollEvery is how often a journal that is followed is looked at.
const pollEvery = 200 * time.Millisecond

// followed shows a journal as it is written.
func (s *show) followed(e *env, in io.Reader) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return report.Follow(prompt{e.out}, in, s.style(e), func(ended bool) error {
		f, isFile := in.(*os.File)
		if ended || !isFile {
			return io.EOF
		}
		if err := sameJournal(f); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return io.EOF
		case <-e.after(pollEvery):
			return nil
		}
	})
}

// sameJournal returns an error where a file that is followed is no longer what was read so far.
func sameJournal(f *os.File) error {
	read, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Stat(f.Name())
	switch {
	case err != nil:
		return fmt.Errorf("the journal is gone while it was followed: %w", err)
	case !os.SameFile(opened, now):
		return fmt.Errorf("%s was replaced by another file while it was followed: show it again", f.Name())
	case now.Size() < read:
		return fmt.Errorf("%s was cut off while it was followed, to %d bytes of %d: show it again", f.Name(), now.Size(), read)
	}
	return nil
}

// prompt is an output whose writes are seen at once.
type prompt struct{ *bufio.Writer }

func (p prompt) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	return n, errors.Join(err, p.Flush())
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
