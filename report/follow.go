package report

import (
	"errors"
	"io"

	"github.com/retake-go/retake/journal"
)

// followTimes is the width of the column of times. The longest time is not known in advance.
const followTimes = 9

// Follow is [Text] for a journal that is still being written. It writes each entry as soon as it is read. At
// the end of in it calls wait, and reads on if wait returns nil. It ends without an error if wait returns
// io.EOF, and returns any other error. The argument of wait reports whether the latest run has ended and no
// line is half written. Bars are scaled to the longest wait so far.
func Follow(w io.Writer, in io.Reader, style Style, wait func(ended bool) error) error {
	t := newTerminal(w, style)
	t.times = followTimes
	var shown *run
	show := func(r *run) {
		if shown != r {
			shown = r
			t.head(r)
		}
	}
	s := &scan{begin: func(r *run) {
		r.live = func(e *entry) {
			show(r)
			t.longest = r.longest
			t.entry(e)
		}
	}}
	s.in = journal.NewReader(&patient{
		in: in, before: t.out.Flush,
		wait: func(halfLine bool) error { return wait(!halfLine && s.run != nil && s.run.underWay() == "") },
	})
	for r := range s.all() {
		show(r)
		t.foot(r)
	}
	return t.end(s)
}

// patient is a reader that calls wait at the end of in and then reads on. It calls before ahead of each read.
type patient struct {
	in     io.Reader
	before func() error
	wait   func(halfLine bool) error
	// halfLine is set if what was read ends within a line.
	halfLine bool
}

func (p *patient) Read(b []byte) (int, error) {
	for {
		if err := p.before(); err != nil {
			return 0, err
		}
		n, err := p.in.Read(b)
		switch {
		case n > 0:
			p.halfLine = b[n-1] != '\n'
			return n, nil
		case !errors.Is(err, io.EOF):
			return 0, err
		}
		if err := p.wait(p.halfLine); err != nil {
			return 0, err
		}
	}
}
