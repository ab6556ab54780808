package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Resume continues the unfinished run in the journal of s ([session.Config].Journal), with the remaining wait
// by the clock, the same attempt and the same seed. Tools that returned a result are not run again. A call
// that began and has no outcome is run again, with the same idempotency key, only if its tool was and is
// declared read-only or idempotent; otherwise the model is told that the call may have had an effect. A model
// call in progress is made again; it may have been paid for, and a note in the journal says so.
//
// s is a new session with the same slices and reducers, and with the same id or none; its contents come from
// the journal. The run keeps its policy, seed, templates and deadline; those of the loop's config are not
// used. Tools, Output and CallsOnly are those of the config. For a run that [Generate] began, set Output to
// the Schema of schema.For[T]; the result's Value is the answer as JSON. A missing tool is an error, a tool
// with another schema a warning in the result. If the run has ended, its result is returned again and nothing
// is done.
//
// Errors are those of [Loop.Run], [journal.ErrNoRun] if there is no run, and [journal.ErrRedacted].
func (l *Loop) Resume(ctx context.Context, s *session.Session) (Result, error) {
	if err := l.unmade(); err != nil {
		return Result{}, err
	}
	p, err := newProcess(ctx, l.options, s, &l.cfg, nil)
	if err != nil {
		return Result{}, err
	}
	p.takesMail(nil)
	if err := p.resumeRun(); err != nil {
		return Result{}, err
	}
	return p.finish(false)
}

// resumeRun takes the session and continues the run in the journal.
func (p *process) resumeRun() error {
	err := p.resume(func(f *journal.Fold) error { return p.fits(f) })
	if err == nil && p.runner.State().Phase != machine.Stopped {
		if p.teller != nil {
			p.teller.Since = p.now()
		}
		p.trace(true)
	}
	return err
}

// fits reports what a run needs and the options do not have.
func (o *options) fits(f *journal.Fold) error {
	var errs []error
	h, name := &f.Header, f.State.Model
	if name != "" && o.modelNamed(name) == nil && f.State.Phase != machine.Stopped {
		errs = append(errs, fmt.Errorf("loop: the resumed run uses the model %q: add it with WithModels", name))
	}
	if f.State.Phase != machine.Stopped && !h.Config.Single {
		errs = append(errs, o.lacks(f.State.Policy))
	}
	errs = append(errs, o.plans(f))
	if h.Config.UserPrompt && o.prompt == nil {
		errs = append(errs, errors.New("loop: the resumed run makes its prompts by code: set it with WithPrompt"))
	}
	if h.Config.Single {
		errs = append(errs, fmt.Errorf("%w: it is a single action: make it again with Do or Attempts",
			journal.ErrNoRun))
	}
	return errors.Join(errs...)
}

// plans reports a planner that a run needs and the options do not have.
func (o *options) plans(f *journal.Fold) error {
	if f.Header.Config.Planner && o.planner == nil {
		return errors.New("loop: the resumed run has a planner: set it with WithPlanner")
	}
	if f.Header.Config.Summaries && o.summary == nil {
		return errors.New("loop: the resumed run has summaries: set their function with WithSummary")
	}
	return nil
}

// resume takes the session and continues the run in its journal, if it fits.
func (p *process) resume(fit func(*journal.Fold) error) error {
	var held journal.Fold
	if p.journal != nil {
		past, err := p.journal.Past()
		if err != nil {
			return err
		}
		if held = *past; held.Header.Format != "" {
			err = fit(past)
		}
		if err != nil {
			return err
		}
	}
	if err := p.take(engine.RunnerConfig{Now: p.clock.Now()}); err != nil {
		return err
	}
	p.goesOn(held.State, held.Adjusted)
	asked, err := p.runner.Next()
	if err != nil {
		p.close()
		return err
	}
	p.asked = &asked
	end := held.State.Config.Deadline // at which no call was begun
	p.cutOff = asked.Kind == machine.CallModel && (end.IsZero() || held.State.At.Before(end))
	p.live(p.life)
	return nil
}

// land records the outcome of a call that came before its turn, so that it is not run again. After the end of
// the context, an error is recorded only if the run is left to be resumed and the error is the tool's own.
func (p *process) land(ctx context.Context, run machine.ToolRun, out tool.Outcome) {
	if p.journal == nil {
		return
	}
	if cause := context.Cause(ctx); cause != nil && out.Err != nil &&
		!(errors.Is(cause, ErrSuspended) && own(&out, cause)) {
		return
	}
	landed := journal.Note{
		Kind: journal.ResultLanded, At: p.clock.Now(), Key: run.Key, Transport: run.Transport,
		End:    engine.EndOf(nil, run, out),
		Events: out.Events,
	}
	// If the journal cannot be written, the next step ends the run.
	_ = p.journal.Note(landed)
}

// own reports whether the error of a call says more than that its context has ended.
func own(out *tool.Outcome, cause error) bool {
	if _, later := out.Later(); later {
		return true
	}
	return !errors.Is(out.Err, context.Canceled) && !errors.Is(out.Err, context.DeadlineExceeded) &&
		!errors.Is(out.Err, cause)
}
