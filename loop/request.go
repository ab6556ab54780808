package loop

import (
	"context"
	"fmt"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
)

// makePrompt calls the user's function that makes the prompt of a request.
func (p *process) makePrompt(m *machine.ModelCall) ([]machine.Effect, error) {
	type prompt struct {
		system string
		add    []message.Message
	}
	view, at := p.runner.State().Session, slices.Clone(m.At)
	made, left, err := ask(p.ctx, p, engine.Limits{},
		func(ctx context.Context, _ engine.Tell) (made prompt, err error) {
			made.system, made.add, err = p.prompt(ctx, view, at)
			return made, err
		})
	switch {
	case left:
		return nil, errCallLeft
	case p.ctx.Err() != nil:
		return p.cancel()
	case err != nil:
		return nil, &promptError{err}
	}
	add := message.Clone(talk.Printable(made.add))
	if err := talk.Validate("making the prompt: messages", add); err != nil {
		return nil, err
	}
	return p.runner.Step(machine.Event{
		Kind: machine.Prompted, At: p.now(), System: canon.UTF8(made.system), Messages: add,
	})
}

// promptError is the error of the user's function that makes prompts.
type promptError struct{ error }

func (e *promptError) Error() string { return "making the prompt: " + e.error.Error() }

func (e *promptError) Unwrap() error { return e.error }

// Sealed marks the error as one of the run: see [fault.Sealed].
func (*promptError) Sealed(string) bool { return true }

func (p *process) call(m *machine.ModelCall) ([]machine.Effect, error) {
	model := p.modelNamed(m.Model)
	if model == nil {
		return nil, fmt.Errorf("loop: there is no model %q: use one of WithModels", m.Model)
	}
	work, limits := observe.ModelWork(m), engine.LimitsOf(m)
	work.Info = p.info(m.Model)
	work.Structured, work.Streamed = p.cfg.Output != nil, p.stream != nil || limits.Streamed()
	inner, end := p.begin(p.ctx, work)
	told := observe.WorkEnd{Err: errExited} // unless it returns
	defer func() { end(told) }()
	inner, settle := p.settles(inner)
	outcome, tokens := limit.Unused, int64(0)
	defer func() { settle(outcome, tokens, told.Err) }()
	inner, leave := context.WithCancelCause(inner)
	defer leave(nil)
	p.cutOff = false
	p.words.setCall(leave)
	limits.End = leave
	reply, left, err := p.request(inner, model, m, limits)
	p.words.setCall(nil)
	if p.limiter != nil && !left && p.ctx.Err() == nil {
		outcome, tokens = limit.OutcomeOf(fault.FailureOf(err).Class), reply.Usage.Total()
	}
	if left {
		if context.Cause(inner) == errSpokenTo {
			p.owed.leave(reply.Usage)
		}
		told, p.takeBack = observe.WorkEnd{Err: err}, true
		return nil, errCallLeft
	}
	if p.hasMail() {
		if p.takeMail(true); p.broke != nil {
			return nil, errCallLeft
		}
	}
	effects, fed := p.replied(reply, err)
	told = observe.ModelEnd(reply, err, effects)
	p.takeBack = told.Class != ""
	return effects, fed
}

// ask calls user code that may ignore its context: it does not wait for it once the work has ended. left
// reports that [process.until] ended the call, so that it has to be made again.
func ask[T any](
	ctx context.Context, p *process, lim engine.Limits, call func(context.Context, engine.Tell) (T, error),
) (value T, left bool, err error) {
	until := p.until
	if until != nil {
		if lim.End == nil {
			ctx, lim.End = context.WithCancelCause(ctx)
		}
		defer context.AfterFunc(until, func() { lim.End(context.Cause(until)) })()
	}
	value, err = called(ctx, lim, &p.alarms, call)
	if err == nil || p.ctx.Err() != nil {
		return value, false, err
	}
	return value, until != nil && until.Err() != nil || context.Cause(ctx) == errSpokenTo, err
}

// request asks a model. What it could change of its request are copies, so that the record stays true.
func (p *process) request(
	ctx context.Context, model Model, m *machine.ModelCall, limits engine.Limits,
) (reply message.Reply, left bool, err error) {
	req := Request{
		Session: p.s.ID(),
		System:  m.System, Messages: p.copied(m.Model), Tools: p.cfg.Tools.All(),
		Output: p.cfg.Output, Model: m.Model, At: slices.Clone(m.At),
		ToolChoice: m.ToolChoice, Stop: slices.Clone(m.Stop), MaxOutputTokens: m.MaxOutputTokens,
	}
	if m.Temperature != nil {
		req.Temperature = new(*m.Temperature)
	}
	stream, reset, streamed := p.streams(m), p.takeBack, limits.Streamed()
	defer func() {
		if err != nil {
			p.copies = nil // a model that was left behind may still have them
		}
	}()
	return ask(ctx, p, limits, func(ctx context.Context, tell engine.Tell) (message.Reply, error) {
		if stream != nil {
			req.Stream = func(d Delta) { tell(func() { stream(ctx, d) }) }
		} else if streamed {
			req.Stream = func(Delta) { tell(func() {}) }
		}
		if stream != nil && reset {
			req.Stream(Delta{Call: -1, Reset: true})
		}
		return model.Reply(ctx, req)
	})
}

// copied returns copies of the conversation for a model. Those of the request before are used again, unless
// that was to another model, which may have kept them, or they were changed.
func (p *process) copied(model string) []message.Message {
	said := p.runner.State().Shown()
	if p.copiedFor != model || len(p.copies) > len(said) || !talk.Equal(p.copies, said[:len(p.copies)]) {
		p.copies, p.copiedFor = nil, model
	}
	p.copies = slices.Grow(p.copies, len(said)-len(p.copies))
	for _, m := range said[len(p.copies):] {
		m.Parts, m.Calls = slices.Clone(m.Parts), slices.Clone(m.Calls)
		p.copies = append(p.copies, m)
	}
	return slices.Clip(p.copies)
}

// replied feeds what a model returned.
func (p *process) replied(reply message.Reply, err error) ([]machine.Effect, error) {
	if p.ctx.Err() != nil {
		p.owed.leave(reply.Usage)
		return p.cancel()
	}
	if err := p.adjustPolicy(); err != nil {
		return nil, err
	}
	p.err, p.failed = err, nil
	if err != nil {
		return p.runner.CallFailed(p.now(), err)
	}
	read := p.runner.Read(p.ctx, reply)
	if p.ctx.Err() != nil {
		p.owed.add(reply.Usage)
		return p.cancel()
	}
	return p.runner.Replied(p.now(), read)
}

// owed is what calls and tries consumed that is in no event yet: their outcomes do not enter. That of a
// cancellation or of a message has it.
type owed struct {
	used message.Usage
	// unknown reports that a model call was left, and nobody knows what it consumed.
	unknown bool
}

// add notes what was consumed by a call or try that has ended.
func (o *owed) add(used message.Usage) { o.used = o.used.Add(used) }

// leave notes that a model call was left, and what it used; the zero value means that nobody knows.
func (o *owed) leave(used message.Usage) {
	o.add(used)
	o.unknown = used == message.Usage{}
}

// take returns all of it, for the fields Usage and Left of an event.
func (o *owed) take() (used message.Usage, left bool) {
	used, left = o.used, o.unknown
	*o = owed{}
	return used, left
}
