package loop

import (
	"context"
	"errors"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// whole is a whole run, from the first message to the last, waits included.
type whole struct {
	*options
	ctx   context.Context
	model Model
	s     *session.Session
	cfg   Config
	// at makes the run.
	at *driver
	// asked is what is to be done next, broke why the run cannot go on.
	asked *machine.Effect
	broke error
	// left is what is left of the wait that is to be made; 0 for none.
	left time.Duration
	// end tells tracers of the end; nil before the run was begun.
	end func(*machine.Outcome, error)
}

// newWhole takes the session for a run.
func newWhole(ctx context.Context, model Model, s *session.Session, cfg *Config, opts []Option) (*whole, error) {
	r, err := idleWhole(ctx, model, s, cfg, opts)
	if err != nil {
		return nil, err
	}
	m, err := cfg.ready(r.options)
	if err != nil {
		return nil, err
	}
	if err := startDriver(ctx, r.at, m); err != nil {
		return nil, err
	}
	return r, nil
}

// idleWhole is a run that has neither begun nor taken the session.
func idleWhole(ctx context.Context, model Model, s *session.Session, cfg *Config, opts []Option) (*whole, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	if model == nil {
		return nil, errors.New("loop: the model is nil: give one that replies")
	}
	r := &whole{options: o, ctx: ctx, model: model, s: s, cfg: *cfg}
	r.at = &driver{options: o, model: model, cfg: &r.cfg, s: s, ctx: ctx}
	return r, nil
}

// start begins the run, and goes on until it waits or has ended.
func (r *whole) start(prompt string) {
	r.open(false)
	r.fed(r.at.runner.ask(r.at.now(), prompt))
	r.goOn()
}

// open tells tracers of the run.
func (r *whole) open(resumed bool) {
	r.ctx, r.end = r.at.beginRun(r.ctx, resumed)
}

// fed takes what a step asks for next, or why it failed.
func (r *whole) fed(effects []machine.Effect, err error) {
	if r.broke = err; err == nil {
		r.asked = &effects[len(effects)-1]
	}
}

// goOn carries effects out until the run waits or has ended.
func (r *whole) goOn() {
	for r.broke == nil && r.at.runner.st.Phase != machine.Stopped {
		if r.asked.Kind == machine.WaitUntil && r.ctx.Err() == nil {
			if r.left = r.asked.Wait.Until.Sub(r.at.now()); r.left > 0 {
				return
			}
			r.left = 0
		}
		r.fed(r.at.carry(r.ctx, *r.asked))
	}
}

// drive makes the waits of a run and goes on after each, until it has ended.
func (r *whole) drive(result *Result) error {
	for r.left > 0 {
		r.pause()
	}
	return r.over(result)
}

// pause makes a wait by the clock, and goes on.
func (r *whole) pause() {
	timer := r.clock.Timer(r.left)
	defer timer.Stop()
	r.left = 0
	select {
	case <-timer.C:
		r.fed(r.at.woke(r.asked.Wait))
	case <-r.ctx.Done():
		r.fed(r.at.cancel(r.ctx))
	}
	r.goOn()
}

// over tells how the run ended.
func (r *whole) over(result *Result) (err error) {
	if r.broke != nil {
		*result, err = r.ended(Result{}, r.at.broken(r.broke))
		return err
	}
	*result, err = r.ended(r.at.runner.Result(r.at.cause))
	return err
}

// ended tells tracers of the end.
func (r *whole) ended(result Result, err error) (Result, error) {
	r.end(r.at.runner.st.Outcome, err)
	return result, err
}

// leave lets the session go. A run whose goroutine was ended by what it called is ended first; one in which that panicked stays as it
// is: it can be resumed.
func (r *whole) leave() {
	defer r.at.release()
	if r.broke != nil || r.end == nil || r.at.runner.st.Phase == machine.Stopped {
		return
	}
	if panicked := recover(); panicked != nil {
		panic(panicked)
	}
	_, _ = r.ended(r.at.exit())
}
