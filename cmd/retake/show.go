package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report"
)

var showCommand = command{
	name:    "show",
	summary: "shows what happened in a run: a timeline of its journal, or a page of HTML",
	example: "retake show runs/order-42.jsonl",
	usage:   []string{"show [-since TIME] [-until TIME] [-html] [-follow] [-width N] [-json] JOURNAL..."},
	about: `
` + journalArgs + `. For each run the timeline shows the policy and the config, and
then in order: model calls, replies, attempts (what was wrong, what was decided and why, what is left of the
budgets), waits to scale, tool runs, notes, and the outcome or what is under way. Decisions are shown as they
were recorded; "retake replay" checks whether they still hold.
` + duringAbout + `

With -html it writes one page to standard output, which needs no network. It also shows prompts, replies, the
failing parts of the JSON, what changed between attempts, and where each value of the policy comes from. Calls
that failed are open, all others are folded. The keys n and p go from one failure to the next. The page says
what was left out for its size.

With -follow it shows a journal while it is being written. It ends when the run ends, or at an interrupt. It
is an error if the journal is deleted, replaced or truncated meanwhile.

A damaged journal is shown up to the damage, and the exit status is 2. A last line that was cut off is no
damage, for a killed process leaves one. A note says so.

JSON: one line for each entry, {"run", "line", "at_ns", "kind", "text", "more", "decision", "issues":
[{"pointer", "rule", "expected", "got"}], "wait_ns", "left", "usage"}, and after those of a run one line with
its "session", "ok", "reason", "unfinished" and totals.`,
	task: newTask[show],
}

type show struct {
	jsonAnswer
	dated
	HTML   bool  `flag:"html" help:"write a page of HTML"`
	Follow bool  `flag:"follow" help:"show the journal while it is written, until its run has ended"`
	Width  count `flag:"width N" help:"the width of lines: N columns; by default that of the terminal, or 100"`
}

func (s *show) run(e *env) error {
	if s.HTML && s.JSON {
		return misused("-html and -json cannot stand together: give one of them")
	}
	if s.Follow && (s.HTML || s.JSON) {
		return misused("-follow is for a timeline: leave out -html and -json")
	}
	if (s.HTML || s.Follow) && len(s.places) > 1 {
		return misused("-html and -follow show one journal, not %d: name one", len(s.places))
	}
	var bad error
	for n, p := range s.places {
		if len(s.places) > 1 && !s.JSON {
			if n > 0 {
				e.println()
			}
			e.println(e.bold(title(p)))
		}
		if err := s.one(e, p); err != nil {
			bad = errors.Join(bad, fmt.Errorf("%s: %w", p.inErrors(), err))
		}
	}
	return bad
}

// one shows one journal.
func (s *show) one(e *env, p place) error {
	in, err := e.open(p)
	if err != nil {
		return err
	}
	defer in.Close()
	if s.Follow {
		return s.followed(e, p, in)
	}
	switch children := e.children(p); {
	case s.HTML:
		return report.Page{Children: children}.HTML(e.out, in)
	case s.JSON:
		return report.JSON(e.out, in)
	default:
		style := s.style(e)
		style.Children = children
		return report.Text(e.out, in, style)
	}
}

// children finds the sessions of agents beside a journal: in its folder or its database.
func (e *env) children(p place) report.Children {
	var beside journal.Keeper = journal.Dir(filepath.Dir(p.path))
	if p.session != "" {
		beside, _ = e.databases[opened{p.path, true}].(journal.Keeper)
	}
	if p.path == standardInput || beside == nil {
		return nil
	}
	return func(id string) (report.Child, bool) {
		return report.Child{Open: func() (io.ReadCloser, map[string][]string, error) {
			in, err := beside.Peek(context.Background(), id)
			if err == nil {
				in, err = e.unseal(in)
			}
			return in, nil, err
		}}, true
	}
}

func (s *show) style(e *env) report.Style {
	return report.Style{Color: bool(e.paint), Width: s.columns()}
}

// pollEvery is the time between two looks at the end of a journal that is followed.
const pollEvery = 200 * time.Millisecond

// followed shows a journal while it is being written.
func (s *show) followed(e *env, p place, in io.Reader) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	from := in
	if u, sealed := in.(unsealed); sealed {
		u.Follow()
		from = u.in
	}
	file, isFile := from.(*os.File)
	row, isStored := from.(*stored)
	return report.Follow(prompt{e.out}, in, s.style(e), func(ended bool) error {
		if ended {
			return io.EOF
		}
		if !isFile && !isStored { // standard input cannot be read on
			return io.EOF
		}
		select {
		case <-ctx.Done():
			return io.EOF
		case <-e.after(pollEvery):
		}
		if isFile {
			return sameJournal(file)
		}
		return row.goOn()
	})
}

// sameJournal returns an error if a file that is followed was removed, replaced or truncated.
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
		return fmt.Errorf("%s was truncated while it was followed, to %d bytes of %d: show it again",
			f.Name(), now.Size(), read)
	}
	return nil
}

// prompt is an output that is flushed after each write.
type prompt struct{ *bufio.Writer }

func (p prompt) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	return n, errors.Join(err, p.Flush())
}

// columns returns the width of a timeline: as given, or that of the terminal, or 0 if neither is known.
func (s *show) columns() int {
	if s.Width > 0 {
		return int(s.Width)
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
