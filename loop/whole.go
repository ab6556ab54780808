package loop

import (
	"context"
	"errors"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// whole is a whole run: the driver of the core from the first message to the last, waits included.
type whole struct {
	driver
	// asked is what is to be done next, broke why the run cannot go on.
	asked *machine.Effect
	broke error
	// left is what is left of the wait that is to be made; 0 for none.
	left time.Duration
	// end tells tracers of the end.
	end func(Result, error) (Result, error)
}

func newWhole(ctx context.Context, model Model, s *session.Session, cfg *Config, opts []Option) (*whole, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	if model == nil {
		return nil, errors.New("loop: the model is nil: give one that replies")
	}
	if err := cfg.fits(o); err != nil {
		return nil, err
	}
	m, err := cfg.compile(o)
	if err != nil {
		return nil, err
	}
	r := &whole{driver: driver{options: o, model: model, cfg: *cfg, s: s}}
	if _, err := startDriver(ctx, &r.driver, m); err != nil {
		return nil, err
	}
	return r, nil
}

// start begins the run, and goes on until it waits or has ended.
func (r *whole) start(prompt string) {
	r.open(false)
	asked := message.Message{Role: message.User, Text: prompt}
	if r.cfg.History.Len() == 0 {
		r.fed(r.runner.Start(r.now(), asked))
	} else {
		said := r.cfg.History.Append(asked)
		r.fed(r.runner.Start(r.now(), said.Slice(0, said.Len())...))
	}
	r.goOn()
}

// open tells tracers of the run.
func (r *whole) open(resumed bool) { r.ctx, r.end = r.beginRun(r.ctx, resumed) }

// fed takes what a step asks for next, or why it failed.
func (r *whole) fed(effects []machine.Effect, err error) {
	if r.broke = err; err == nil {
		r.asked = &effects[len(effects)-1]
	}
}

// goOn carries effects out until the run waits or has ended.
func (r *whole) goOn() {
	for r.broke == nil && r.runner.st.Phase != machine.Stopped {
		if r.asked.Kind == machine.WaitUntil && r.ctx.Err() == nil {
			if r.left = r.asked.Wait.Until.Sub(r.now()); r.left > 0 {
				r.tighten()
				return
			}
			r.left = 0
		}
		r.fed(r.carry(r.ctx, *r.asked))
	}
}

// drive makes the waits of a run and goes on after each, until it has ended. It is called from where little lies on the stack, for
// a goroutine keeps its stack while it waits.
func (r *whole) drive(result *Result) error {
	for r.left > 0 {
		r.pause()
	}
	return r.over(result)
}

// pause makes a wait by the clock, and goes on.
func (r *whole) pause() {
	timer := r.clock.Timer(r.left)
	r.left = 0
	select {
	case <-timer.C:
		r.fed(r.woke(r.asked.Wait))
	case <-r.ctx.Done():
		timer.Stop()
		r.fed(r.cancel(r.ctx))
	}
	r.goOn()
}

// over tells how the run ended.
func (r *whole) over(result *Result) (err error) {
	if r.broke != nil {
		*result, err = r.end(Result{}, r.broken(r.broke))
		return err
	}
	*result, err = r.end(r.runner.Result(r.cause))
	return err
}

// leave lets the session go. A run whose goroutine was ended by what it called is ended first; one in which that panicked stays as it
// is: it can be resumed.
func (r *whole) leave() {
	defer r.release()
	if r.broke != nil || r.end == nil || r.runner.st.Phase == machine.Stopped {
		return
	}
	if panicked := recover(); panicked != nil {
		panic(panicked)
	}
	_, _ = r.end(r.exit())
}

// tighten keeps no more of a run that waits than it needs.
func (r *whole) tighten() {
	st := &r.runner.st
	st.Session, st.Transcript = st.Session.Tight(), st.Transcript.Tight()
	_ = r.s.Replace(st.Session) // the same values
}
