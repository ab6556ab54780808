package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Resume continues the unfinished run in the journal of s ([session.Config].Journal), with the remaining wait by the clock, the same attempt and the
// same seed. Tools that returned a result are not run again. A call that began and has no outcome is run
// again, with the same idempotency key, only if its tool was and is declared read-only or idempotent;
// otherwise the model is told that the call may have had an effect. A model call in progress is made again;
// it may have been paid for, and a note in the journal says so.
//
// s is a new session with the same slices and reducers, and with the same id or none; its contents come from
// the journal. The run keeps its policy, seed, templates and deadline; those of the loop's config are not used.
// Tools, Output and CallsOnly are those of the config. For a run that [Generate] began, set Output to the Schema of
// schema.For[T]; the result's Value is the answer as JSON. A missing tool is an error, a tool with another
// schema a warning in the result. If the run has ended, its result is returned again and nothing is done.
//
// Errors are those of [Loop.Run], [journal.ErrNoRun] if there is no run, and [journal.ErrRedacted].
func (l *Loop) Resume(ctx context.Context, s *session.Session) (Result, error) {
	p, err := newProcess(ctx, l.options, l.model, s, &l.cfg)
	if err != nil {
		return Result{}, err
	}
	if err := p.resumeRun(); err != nil {
		return Result{}, err
	}
	defer p.leave()
	return p.finish()
}

// resumeRun takes the session and continues the run in the journal.
func (p *process) resumeRun() error {
	err := p.resume(func(f *journal.Fold) error { return errors.Join(p.fits(f), fitConfig(f, *p.runner.cfg)) })
	if err == nil && p.runner.st.Phase != machine.Stopped {
		p.since = p.now()
		p.secrets.ReadSaid(p.runner.st.Transcript(), p.runner.cfg.Tools)
		p.trace(true)
	}
	return err
}

// ResumeRunner returns a runner that continues the run in the journal of s, for engines with their
// own clock: see [Loop.Resume]. It also returns the next effect, whose kind is empty if the run has ended. The
// engine must call [Runner.ToolBegins] before it runs a tool; otherwise a call that was in progress is run
// twice.
func ResumeRunner(
	s *session.Session, cfg Config, record func(machine.Event, []machine.Effect, machine.State),
	opts ...Option,
) (*Runner, machine.Effect, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, machine.Effect{}, err
	}
	r := &Runner{cfg: &cfg, s: s, record: record}
	past, err := r.resume(o, func(f *journal.Fold) error { return fitConfig(f, cfg) })
	if err != nil {
		return nil, machine.Effect{}, err
	}
	asked, err := r.next(past)
	if err != nil {
		r.Close()
		return nil, machine.Effect{}, err
	}
	return r, asked, nil
}

// next returns the next effect of a run in a journal. Its kind is empty if the run has ended.
func (r *Runner) next(f *journal.Fold) (machine.Effect, error) {
	if f.State.Phase == machine.Stopped {
		return machine.Effect{}, nil
	}
	effects, err := r.settle(f.State.At, []machine.Effect{f.State.Left(f.Asked)})
	return effects[len(effects)-1], err
}

// resume takes the session and fills it from the journal.
func (r *Runner) resume(o *options, fit func(*journal.Fold) error) (*journal.Fold, error) {
	if err := r.acquire(); err != nil {
		return nil, err
	}
	begun := false // false if the journal panics or ends the goroutine
	defer func() {
		if !begun {
			r.Close()
		}
	}()
	held, err := r.takeOver(o, fit)
	begun = err == nil
	return held, err
}

func (r *Runner) takeOver(o *options, fit func(*journal.Fold) error) (*journal.Fold, error) {
	if r.journal == nil {
		return nil, errors.New("loop: there is no journal to resume from: make the session with one (session.Config.Journal)")
	}
	held, err := r.journal.Past()
	if err != nil {
		return nil, err
	}
	if held.Header.Format == "" {
		return nil, fmt.Errorf("%w: no run was begun in session %q", journal.ErrNoRun, r.s.ID())
	}
	if err := fit(held); err != nil {
		return nil, err
	}
	if err := session.DriverOf(r.s).Replace(held.State.Session); err != nil {
		return nil, err
	}
	if now, then := len(r.s.State().Slices()), len(held.State.Session.Slices()); now != then {
		return nil, fmt.Errorf("loop: the session declares %d slices, but %d in the journal: declare the same", now, then)
	}
	r.st, r.changed = held.State, changed(&held.Header, *r.cfg)
	if session.DriverOf(r.s).Seed() == "" && held.Header.Config.Seed == r.cfg.Seed {
		o.seeds.serve(r.cfg.Seed, r.s.ID())
	}
	if err := r.keep(); err != nil {
		return nil, err
	}
	if r.st.Phase == machine.Stopped {
		r.recorded = held.State.At
		return held, nil
	}
	r.resumed = true
	return held, r.journal.Resumed(o.clock.Now(), held.Asked.Kind)
}

// fits reports what a run needs and the options do not have.
func (o *options) fits(f *journal.Fold) error {
	var errs []error
	h, name := &f.Header, f.State.Model
	if name != "" && o.models[name] == nil && f.State.Phase != machine.Stopped {
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
		errs = append(errs, fmt.Errorf("%w: it is a single action: make it again with Do or Attempts", journal.ErrNoRun))
	}
	return errors.Join(errs...)
}

// plans reports a planner that a run needs and the options do not have.
func (o *options) plans(f *journal.Fold) error {
	if f.Header.Config.Planner && o.planner == nil {
		return errors.New("loop: the resumed run has a planner: set it with WithPlanner")
	}
	return nil
}

// fitConfig reports what replies were checked against and cfg does not have.
func fitConfig(f *journal.Fold, cfg Config) error {
	var errs []error
	ended := f.State.Phase == machine.Stopped
	if f.Header.Output != "" && cfg.Output == nil && !ended {
		errs = append(errs, errors.New("loop: the resumed run wants an answer of a schema: set Config.Output"))
	}
	if was := f.Header.Config.CallsOnly; was != cfg.CallsOnly && !ended {
		errs = append(errs, fmt.Errorf("loop: the resumed run began with Config.CallsOnly %v: set it so", was))
	}
	for _, t := range f.Header.Tools {
		if _, ok := cfg.Tools.Get(t.Name); !ok {
			errs = append(errs, fmt.Errorf("loop: the resumed run has a tool %q: add it to Config.Tools", t.Name))
		}
	}
	return errors.Join(errs...)
}

// changed reports what replies were checked against and has changed.
func changed(h *journal.Header, cfg Config) []string {
	now := engine.Header(h.Config, cfg.offer())
	var warnings []string
	for _, t := range h.Tools {
		n := slices.IndexFunc(now.Tools, func(on journal.Tool) bool { return on.Name == t.Name })
		if n < 0 || now.Tools[n].Schema != t.Schema {
			warnings = append(warnings, fmt.Sprintf("tool %q has another schema than when the run began", t.Name))
		}
		if n >= 0 && now.Tools[n].Description != t.Description {
			warnings = append(warnings, fmt.Sprintf("tool %q has another description than when the run began", t.Name))
		}
	}
	if now.Output != h.Output {
		warnings = append(warnings, "the answer has another schema than when the run began")
	}
	return warnings
}

// resume takes the session and continues the run in the journal.
func (p *process) resume(fit func(*journal.Fold) error) error {
	r := &p.runner
	held, err := r.resume(p.options, fit)
	if err != nil {
		return err
	}
	p.last, p.adjusted, p.takeBack = held.State.At, held.Adjusted, leftAReply(held.State)
	p.warned = len(held.State.Warnings)
	if p.asked, err = r.next(held); err != nil {
		r.Close()
		return err
	}
	p.live(p.life)
	return nil
}

// land records the outcome of a call that came before its turn, so that it is not run again. After the end of
// the context, an error is recorded only if the run is left to be resumed and the error is the tool's own.
func (p *process) land(ctx context.Context, run machine.ToolRun, out tool.Outcome) {
	if p.runner.journal == nil {
		return
	}
	if cause := context.Cause(ctx); cause != nil && out.Err != nil &&
		!(errors.Is(cause, ErrSuspended) && own(&out, cause)) {
		return
	}
	landed := journal.Note{
		Kind: journal.ResultLanded, At: p.clock.Now(), Key: run.Key, Transport: run.Transport, End: engine.EndOf(run, out),
	}
	for _, e := range out.Events {
		landed.Events = append(landed.Events, session.Event{Name: e.Name, Payload: e.Payload})
	}
	// If the journal cannot be written, the next step ends the run.
	_ = p.runner.journal.Note(landed)
}

// own reports whether the error of a call says more than that its context has ended.
func own(out *tool.Outcome, cause error) bool {
	if _, later := out.Later(); later {
		return true
	}
	return !errors.Is(out.Err, context.Canceled) && !errors.Is(out.Err, context.DeadlineExceeded) &&
		!errors.Is(out.Err, cause)
}

// landedError is the error of a call whose outcome is in the journal. It is recorded again as it was.
type landedError struct {
	// error is an error of the kind of the outcome.
	error
	end machine.ToolEnd
}

// Error returns the recorded text.
func (e *landedError) Error() string {
	if f := e.end.Failure; f != nil {
		return (&RecordedError{*f}).Error()
	}
	return e.error.Error()
}

// Unwrap returns the error of the kind of the outcome.
func (e *landedError) Unwrap() error { return e.error }

// outcomeOf returns the outcome that landed.
func outcomeOf(l *journal.Note) tool.Outcome {
	out := tool.Outcome{Progress: l.End.Progress, Usage: l.End.Usage}
	switch l.End.Verdict {
	case machine.Broke:
		out.Err = &RecordedError{*l.End.Failure}
	case machine.TryLater:
		f := *l.End.Failure
		out.Err = &tool.LaterError{After: f.RetryAfter, Cause: &RecordedError{f}}
	case machine.Unknown:
		out.Err = tool.ErrUnknown
	case machine.AskAgain:
		out.Issues = l.End.Issues
	case machine.Failed:
		out.Failed, out.Parts = l.End.Text, l.End.Parts
		out.InDoubt, out.Whole = l.End.InDoubt, l.End.Whole
	default:
		out.Result, out.Parts = l.End.Result, l.End.Parts
		for _, e := range l.Events {
			out.Events = append(out.Events, tool.Event{Name: e.Name, Payload: e.Payload})
		}
	}
	if out.Err != nil {
		out.Err = &landedError{out.Err, *l.End}
	}
	return out
}

// note records a tool's progress.
func (p *process) note(run machine.ToolRun, at time.Time, progress []byte) {
	if w := p.runner.journal; w != nil {
		_ = w.Note(journal.Note{Kind: journal.Progressed, At: at, Key: run.Key, Tool: run.Tool, Progress: progress})
	}
}
