package dbos

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"

	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// The topic of letters to a run, the event that tells the sender of one, by its key, what came of it, and
// that of a run that has ended and reads only what has been sent.
const (
	mail    = "retake.mail"
	told    = "retake.told"
	closing = "retake.closing"
)

// patience is how long a run waits for a letter at a time.
const patience = time.Hour

// letter is a message of DBOS to a run: an answer or words of people, or a mark of the run's own. An empty
// text is none, and only wakes.
type letter struct {
	// Key is that by which its sender is told what came of it.
	Key    string            `json:"key,omitempty"`
	Answer *machine.Response `json:"answer,omitempty"`
	Words  *session.Words    `json:"words,omitempty"`
	// Mark is the number of a mark: see [flow.hearTo].
	Mark int `json:"mark,omitempty"`
}

// box is the mail of a run.
type box struct {
	// outside sends letters as those who are no workflow; nil if a record is only read.
	outside  sdk.Client
	workflow string
	// marks is the number of marks so far, and seen are those that have come.
	marks int
	seen  map[int]bool
}

// open gives a run its mail. close ends what wakes it.
func (b *box) open(ctx sdk.Context, workflow string) (close func()) {
	b.workflow, b.seen = workflow, map[int]bool{}
	if _, past := ctx.(*past); past {
		return func() {}
	}
	outer, stop := context.WithCancel(context.Background()) // one of a workflow would send in steps
	b.outside = ctx.From(ctx, outer)
	leave := context.AfterFunc(ctx, stop)
	return func() { leave(); stop() }
}

// put sends a letter to the run. key is one by which it is sent once; empty for none.
func (b *box) put(text, key string) error {
	var once []sdk.SendOption
	if key != "" {
		once = append(once, sdk.WithIdempotencyKey(key))
	}
	return sdk.Send(b.outside, b.workflow, text, mail, once...)
}

// mark returns the number of a new mark, and what has it come. It comes after all letters that were sent
// before it, and once, also if the run is made again.
func (b *box) mark() (n int, come func() error) {
	b.marks++
	n = b.marks
	return n, func() error {
		if b.outside == nil {
			return nil
		}
		text, err := engine.Marshal(letter{Mark: n})
		if err != nil {
			return err
		}
		return b.put(string(text), fmt.Sprint("retake.mark.", n))
	}
}

// knock has empty letters come after 1 s, 2 s, 4 s and so on, until stop is called. DBOS wakes nobody for a
// letter that came while the process did not listen yet, and a run that waits sees it when the next one wakes
// it. Once one has, the process listens, which heard remembers.
func (b *box) knock(heard *atomic.Bool) (stop func(woken bool)) {
	if b.outside == nil || heard.Load() {
		return func(bool) {}
	}
	ctx, end := context.WithCancel(b.outside)
	knocked := false
	over := make(chan struct{})
	go func() {
		defer close(over)
		for wait := time.Second; ; wait *= 2 {
			timer := time.NewTimer(wait)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
				knocked = b.put("", "") == nil || knocked
			}
		}
	}()
	return func(woken bool) {
		end()
		if <-over; knocked && woken {
			heard.Store(true)
		}
	}
}

// read waits for a letter, at most so long. late reports that none came.
func (f *flow) read(
	ctx sdk.Context, most time.Duration, recv recvFunc,
) (l letter, late bool, err error) {
	stop := f.knock(f.hears)
	text, err := recv(ctx, mail, most)
	stop(err == nil)
	if late = errors.Is(err, sdk.ErrTimeout); late {
		return l, true, nil
	}
	if err != nil || engine.Unmarshal([]byte(text), &l) != nil {
		return letter{}, false, err
	}
	if l.Mark > 0 {
		f.seen[l.Mark] = true
	}
	if f.hooks.read != nil && (l.Answer != nil || l.Words != nil) {
		f.hooks.read(l)
	}
	return l, false, nil
}

// hearUntil takes letters until a time, or until the core asks for something else; the zero time is never.
// over reports that the time has come.
func (f *flow) hearUntil(until time.Time) (over bool, err error) {
	for moves := f.moves; f.moves == moves; {
		most := patience
		if !until.IsZero() {
			most = min(most, max(until.Sub(f.at), 0))
		}
		l, late, err := f.read(f.ctx, most, f.hooks.recv)
		if err == nil {
			err = f.time()
		}
		if err == nil && late && most < patience {
			return true, nil
		}
		if err == nil {
			err = f.take(l)
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// hearTo takes letters until a mark comes, or until the core asks for something else. How many were before
// the mark is in the record, and so the run is the same when it is made again. cut reports that the error is
// that of a wait.
func (f *flow) hearTo(ctx sdk.Context, mark int) (cut bool, err error) {
	for moves := f.moves; f.moves == moves && !f.seen[mark]; {
		l, _, err := f.read(ctx, patience, sdk.Recv[string])
		if err != nil {
			return true, err
		}
		if l.Answer == nil && l.Words == nil {
			continue
		}
		if err = f.time(); err == nil {
			err = f.take(l)
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// hearAll takes the letters that were sent before now.
func (f *flow) hearAll() error {
	mark, come := f.mark()
	if err := come(); err != nil {
		return err
	}
	_, err := f.hearTo(f.ctx, mark)
	return err
}

// take takes a letter, and tells its sender what came of it.
func (f *flow) take(l letter) error {
	switch {
	case l.Words != nil:
		return f.said(l.Key, *l.Words)
	case l.Answer != nil && f.st.Phase != machine.Stopped: // else its sender sees that the run has ended
		return f.answered(l.Key, *l.Answer)
	}
	return nil
}

// tell tells the sender of a letter why it was refused; nil if it was not.
func (f *flow) tell(key string, refused *machine.AnswerError) error {
	text, err := engine.Marshal(refused)
	if err != nil {
		return broken("the refusal of an answer: %w", err)
	}
	return sdk.SetEvent(f.ctx, told+"."+key, string(text))
}

// callState is whether a model is called: no message of the user stops a call that is over.
type callState int

const (
	noCall callState = iota
	underWay
	over
)

// said feeds what a user says. A run that has ended says that it was not heard.
func (f *flow) said(key string, w session.Words) error {
	if f.st.Phase == machine.Stopped {
		by := ""
		if w.By != "" {
			by = " by " + w.By
		}
		f.unheard = append(f.unheard, fmt.Sprintf("a message%s came after the run had ended", by))
		return nil
	}
	ev := engine.Spoken(f.st, f.at, w, f.call == over)
	if f.call == underWay {
		ev, _ = engine.SpokenDuring(f.st, f.at, w, true)
	}
	if ev != nil {
		if err := f.step(*ev); err != nil {
			return err
		}
	}
	return f.tell(key, nil)
}
