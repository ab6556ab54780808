package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// now returns the time of the clock, never before an earlier result.
func (r *Run) now() time.Time {
	if now := r.cfg.Clock.Now().UTC().Round(0); now.After(r.at) {
		r.at = now
	}
	return r.at
}

// fed handles the effects of a step and wakes those who wait for it.
func (r *Run) fed(effects []machine.Effect, err error) {
	for err == nil {
		r.note(effects)
		if len(effects) == 0 || effects[len(effects)-1].Kind != machine.AskPlanner {
			break
		}
		effects, err = r.runner.Planned(r.now(), r.plan(effects[len(effects)-1].Question))
	}
	if n := len(effects); err == nil && n > 0 && effects[n-1].Kind == machine.AskPerson {
		a := effects[n-1].Asks[0]
		err = unasked(a.Kind, a.Tool)
	}
	if err != nil {
		r.broken(err)
	}
	r.wake()
}

// unasked is the error of a question about a call of a tool, or about the answer.
func unasked(kind machine.AskKind, name string) error {
	return fmt.Errorf(nobody[kind]+", or run the loop with package loop", cmp.Or(name, "the answer"))
}

// nobody is what is told of a question, by its kind: here is nobody to ask.
var nobody = map[machine.AskKind]string{
	machine.AskApproval: "a call of %s needs a person's approval, and nobody can be asked here: set " +
		"approval to never in the policy",
	machine.AskDoubt: "what became of a call of %s is asked, and nobody can be asked here: " +
		"set approval.in_doubt to tell in the policy",
	machine.AskExhausted: "%s has no attempt left and a person is asked what is to follow, but nobody can " +
		"be asked here: set approval.exhausted to end in the policy and let no planner ask",
}

// wake wakes those who wait for a step.
func (r *Run) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// note records the effects of a step.
func (r *Run) note(effects []machine.Effect) {
	for _, e := range effects {
		switch e.Kind {
		case machine.Decided:
			if d := e.Decision; !d.Retry && d.Class != "" && r.cause == nil {
				r.cause = r.last
			}
		case machine.RunTools:
			r.seen = 0
			for _, run := range e.Tools {
				r.calls[run.Index].run = &run
			}
		case machine.CallModel:
			r.asked = *e.Model
		case machine.WaitUntil:
			r.waiting = *e.Wait
		case machine.Stop:
			r.result, r.err = loop.ResultOf(r.runner.End(), r.cause)
			r.runEnds(r.err)
		}
	}
	r.collect()
}

// collect copies the answers to calls: from the batch while it is open, then from the transcript. That leaves
// some calls out of a reply with too many.
func (r *Run) collect() {
	st := r.runner.State()
	if st.Batch != nil {
		r.collectOpen(st.Batch)
		return
	}
	n := 0
	for _, m := range st.TranscriptFrom(r.mark) {
		if m.Role == message.Tool && n < len(r.calls) {
			r.calls[n].answered(m.Text, m.IsError)
			n++
		}
	}
	for ; n < len(r.calls); n++ {
		r.calls[n].answered("Not run: the reply as a whole could not be used.", true)
	}
}

// collectOpen checks all calls after they were requested, and later those that have ended since. Outcomes
// enter in call order, so that these stand before the cursor.
func (r *Run) collectOpen(b *machine.Batch) {
	if r.seen > 0 {
		for ; r.seen < b.Cursor; r.seen++ {
			r.collectCall(b, r.seen)
		}
		return
	}
	for n := range b.Calls {
		r.collectCall(b, n)
	}
	r.seen = b.Cursor
}

func (r *Run) collectCall(b *machine.Batch, n int) {
	if c, over := b.Answered(n); over {
		r.calls[n].answered(c.Answer, c.IsError())
	}
}

// goesOn are the reasons for which a tool is exhausted while the run may continue.
var goesOn = []policy.Reason{policy.ReasonAttemptsExhausted, policy.ReasonToolBudget, policy.ReasonNoProgress,
	policy.ReasonNotRetryable}

// plan answers an exhaustion. That of a tool leaves the run going while its budgets last; any other ends
// it.
func (r *Run) plan(x *machine.Question) machine.Plan {
	st := r.runner.State()
	ofTool := x != nil && x.Action != machine.AnswerAction && (x.Plane == fault.Correction || st.Batch != nil)
	spent := over(st.Failed.Run, st.Policy.Budgets.Run) || over(st.Failed.Unknown,
		st.Policy.Budgets.UnknownTools)
	if ofTool && !spent && slices.Contains(goesOn, x.Reason) {
		r.told = true
		return machine.Plan{Do: machine.Fallback, Note: "the model was told"}
	}
	return machine.Plan{Do: machine.Abort}
}

// over reports whether more calls failed than a budget allows.
func over(failed, budget int) bool { return budget != policy.Unlimited && failed > budget }

// broken ends a run that cannot continue.
func (r *Run) broken(err error) {
	if phase := r.runner.State().Phase; phase != machine.Idle && phase != machine.Stopped {
		if _, cancel := r.runner.Break(r.now(), err); cancel != nil {
			err = fmt.Errorf("%w (and the run could not be ended: %w)", err, cancel)
		}
	}
	r.err = err
	r.runEnds(err)
}

// cancel ends the run because its context ended.
func (r *Run) cancel(ctx context.Context) error {
	if phase := r.runner.State().Phase; r.err == nil && phase != machine.Idle && phase != machine.Stopped {
		r.cause = context.Cause(ctx)
		r.fed(r.runner.Cancel(r.now(), r.cause))
	}
	if r.err == nil {
		return context.Cause(ctx)
	}
	return r.err
}

// wait waits as the core asks, without the lock. A wait that is over starts no timer.
func (r *Run) wait(ctx context.Context) {
	until := r.waiting.Until
	if left := until.Sub(r.now()); left > 0 {
		r.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-r.cfg.Clock.After(left):
		}
		r.mu.Lock()
		if ctx.Err() != nil || r.runner.State().Phase != machine.Waiting {
			return
		}
	}
	// A wall clock may have been set back: the wait is over all the same.
	if r.now().Before(until) {
		r.at = until
	}
	r.fed(r.runner.Woke(r.at))
}

// classified returns the error of a model, with the class that Classify gives it. It is not asked about
// errors of the core's own types.
func (r *Run) classified(err error) error {
	if err == nil || r.cfg.Classify == nil {
		return err
	}
	bounded := fault.Bounded(err)
	_, isCall := errors.AsType[*fault.ToolValidationError](bounded)
	_, isAnswer := errors.AsType[*fault.StructuredOutputError](bounded)
	if isCall || isAnswer {
		return err
	}
	if f := r.cfg.Classify(bounded); f.Failed() {
		return &classifiedError{err, f}
	}
	return err
}

// toolError returns the error of a tool with its class: by Classify, else by its type, never by its text.
// Once the runtime has the answer the call is not repeated, and no sequential one is, because it could not
// wait for later ones.
func (r *Run) toolError(out tool.Outcome, told bool) error {
	if out.Err == nil {
		return nil
	}
	f := out.Failure()
	_, later := out.Later()
	own := later || out.Unknown() || f.Class == fault.ToolExecution && f.Final
	if r.cfg.Classify != nil && !own {
		if told := r.cfg.Classify(out.Err); told.Failed() {
			f = told
		}
	}
	switch {
	case (r.cfg.Sequential || told) && !out.Unknown():
		f.Final = true
		return &classifiedError{errors.New(out.Err.Error()), f}
	case own:
		return out.Err
	}
	return &classifiedError{out.Err, f}
}

type classifiedError struct {
	error
	failure fault.Failure
}

func (e *classifiedError) Failure() fault.Failure { return e.failure }

func (e *classifiedError) Unwrap() error { return e.error }
