package journal

import (
	"fmt"
	"io"

	"github.com/retake-go/retake/loop/machine"
)

// Follower folds a journal that another process writes: each Read goes on where the one before ended. It
// verifies every line, but does not compare what was decided with what is decided today: see [Replay] for
// that. Of a long journal it forgets what nobody has to know to go on. The zero value is at the beginning. It
// is for one goroutine.
type Follower struct {
	// Configs are shared with the followers of other journals; nil for none. With them the calls of the fold
	// have no system prompt, unless something is decided by its size.
	Configs *Configs

	fold Fold
	r    Reader
}

// Read folds the lines of a journal that are new: to the last that is complete. in is the whole journal; if
// it is an [io.Seeker], what was read before is not read again. The error is that of Replay for a changed
// line. After an error the follower must not be used any more.
func (f *Follower) Read(in io.Reader) error {
	if f.r.line == 0 {
		f.r.head, f.fold.folding = newHash(), folding{trusts: true, forgets: true, configs: f.Configs}
	}
	if err := f.skip(in); err != nil {
		return err
	}
	f.r.in, f.r.err = newLineReader(in), nil
	defer func() { f.r.in, f.r.torn = lineReader{}, nil }()
	return f.r.walk(&f.fold)
}

// skip leads to where the last Read ended.
func (f *Follower) skip(in io.Reader) (err error) {
	if f.r.end == 0 {
		return nil
	}
	// A file can be led beyond its end: the last byte has to be there, too.
	if err = leadTo(in, f.r.end-1); err == nil {
		_, err = io.ReadFull(in, make([]byte, 1))
	}
	if err == io.EOF {
		err = &CorruptError{Line: f.r.line, Why: fmt.Sprintf("the journal has become shorter than %d bytes",
			f.r.end)}
	}
	return err
}

// Forget drops what is not needed to go on: see [machine.State.Forget].
func (f *Follower) Forget() { f.fold.forget(f.r.end) }

// Last returns the last run that has begun. It changes with the next Read. The error is [ErrNoRun] if there
// is none; the fold has the id of the session then, too.
func (f *Follower) Last() (*Fold, error) {
	last := f.fold.begunLast()
	if last.Header.Format == "" || last.State.Phase == machine.Idle {
		return &Fold{Header: Header{Session: f.fold.Header.Session}}, ErrNoRun
	}
	return last, nil
}

// Lines returns the number of lines that were read.
func (f *Follower) Lines() int64 { return f.r.line }
