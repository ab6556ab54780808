package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/ratelimit"
)

// WithLimiter sets the limiter that grants model calls, and the tries of [Do] and [Attempts], to all runs
// that have it. A run asks before each call and each retry, and waits without an attempt being charged; in a
// [Pool] it has no goroutine while it waits. It tells what responses say of limits, and what calls used.
// Grants are recorded. A wait that would last beyond the run's deadline ends the run at once. It is an error
// if l has another clock than the run: see [WithClock]. Nil means no limiter, in a [Pool] too, which has one
// by default.
func WithLimiter(l *limiter.Limiter) Option {
	return func(o *options) { o.limiter, o.unlimited = l, l == nil }
}

// giveUp is how long a provider may be down before the runs of a pool that has only the default limiter end.
const giveUp = 10 * time.Minute

// limited returns the options with the limiter that a pool has by default: see [limit.Config].Open.
func (o *options) limited() *options {
	if o.limiter != nil || o.unlimited {
		return o
	}
	own := *o
	own.limiter, _ = limiter.New(limiter.Config{Clock: o.clock, Limit: limit.Config{Open: true, GiveUp: giveUp}})
	return &own
}

// checkLimiter reports a limiter that has another clock than the runs: it would grant their calls at the
// wrong times, or never.
func (o *options) checkLimiter() error {
	if o.limiter == nil || sameClock(o.clock, o.limiter.Clock()) {
		return nil
	}
	return fmt.Errorf("WithLimiter: the limiter has the clock %T, and the runs have %T: "+
		"give limiter.Config.Clock and WithClock the same one", o.limiter.Clock(), o.clock)
}

// sameClock reports whether clocks are one, or both the machine's. Those of a type that cannot be compared
// count as one.
func sameClock(a, b Clock) bool {
	kind := reflect.TypeOf(a)
	return kind == reflect.TypeOf(b) &&
		(kind == reflect.TypeOf(standard.clock) || !reflect.ValueOf(a).Comparable() || a == b)
}

// WithScope sets the function that says whose limits a model call takes from: one of several keys, say, or a
// tenant by the session of the request. The request is read-only, and has no stream. By default each model of
// each provider is a scope of its own, as the model says ([Describer]), and so is each [Model] that says
// nothing.
func WithScope(f func(Request) string) Option { return func(o *options) { o.scope = f } }

// WithPriority sets the function that says how urgent the calls of a session are, by its ID: the higher
// number goes first, and by default all have 0. Each step counts as if the call had waited for ten minutes
// longer, so that nobody starves: see [limit.Config].Yield. It may be called at any time, from several
// goroutines.
func WithPriority(f func(session string) int) Option { return func(o *options) { o.priority = f } }

// queued is an ask that waits for the limiter.
type queued struct {
	limiter.Grant
	since  time.Time
	answer chan limiter.Answer
}

// scopeOf returns the scope of the next call, and its name if people gave it one.
func (p *process) scopeOf(model string) (scope, name string) {
	switch {
	case p.action != nil:
		name = cmp.Or(p.action.Scope, p.action.Tool, "answer")
		return name, name
	case p.scope != nil:
		st := p.runner.State()
		name = p.scope(Request{
			Session: p.s.ID(), System: st.System, Messages: st.Shown(), Tools: p.cfg.Tools.All(), Output: p.cfg.Output,
			Model: model,
		})
		return name, name
	}
	m := p.modelNamed(model)
	if info, _ := infoOf(m); info.Name != "" {
		name = info.Name
		if info.Provider != "" {
			name = info.Provider + "/" + name
		}
		return name, name
	}
	if v := reflect.ValueOf(m); v.Kind() == reflect.Pointer || v.Kind() == reflect.Func {
		return fmt.Sprintf("%s %T %#x", model, m, v.Pointer()), ""
	}
	return fmt.Sprintf("%s %T", model, m), ""
}

// granting is what a process knows of the limiter.
type granting struct {
	// queued is the ask that waits, held the grant that was not used yet, and denied why there is none.
	queued *queued
	held   *limiter.Grant
	denied *limiter.DeniedError
	// name is the scope of the last ask, if people gave it one, and waited how long that waited.
	name   string
	waited time.Duration
}

// waitsForGrant asks the limiter for the next call or try, and reports whether the answer is to come. A call
// that was in progress when its process died needs another grant, too.
func (p *process) waitsForGrant() bool {
	g := &p.granting
	if k := p.asked.Kind; p.limiter == nil || g.held != nil || g.denied != nil ||
		k != machine.AskGrant && k != machine.CallModel && k != machine.TryAction {
		return false
	}
	if g.queued == nil {
		return p.askGrant()
	}
	select {
	case a := <-g.queued.answer:
		p.takeGrant(a)
		return false
	default:
		return true
	}
}

// askGrant asks the limiter, and reports whether the answer is to come.
func (p *process) askGrant() bool {
	st := p.runner.State()
	var ask machine.GrantAsk
	switch e := p.asked; {
	case e.Grant != nil:
		ask = *e.Grant
	case e.Model != nil:
		ask.Model, ask.Retry = e.Model.Model, e.Model.Transport > 1
	}
	q := &queued{since: p.now(), answer: make(chan limiter.Answer, 1)}
	scope, name := p.scopeOf(ask.Model)
	priority := 0
	if p.priority != nil {
		priority = p.priority(p.s.ID())
	}
	a, known := p.limiter.Ask(limiter.Ask{
		Scope: scope, Tokens: st.CallTokens(), Turn: ask.Turn, Priority: priority, Retry: ask.Retry,
		UnlessDown: ask.UnlessDown, Deadline: st.Config.Deadline,
	}, func(a limiter.Answer) {
		q.answer <- a
		p.pooled.wake()
	})
	q.Grant = a.Grant
	p.granting.queued, p.granting.name = q, name
	if known {
		p.takeGrant(a)
		p.granting.waited = 0
	}
	return !known
}

// takeGrant takes the answer of the limiter. A call that a dead process had begun is made without a grant if
// it is denied, because there is no place to record that.
func (p *process) takeGrant(a limiter.Answer) {
	g := &p.granting
	g.waited, g.queued = p.now().Sub(g.queued.since), nil
	denied, is := errors.AsType[*limiter.DeniedError](a.Err)
	switch {
	case !is:
		g.held = &a.Grant
	case p.asked.Kind == machine.AskGrant:
		g.denied = denied
	}
}

// pauseGrant waits for the limiter.
func (p *process) pauseGrant() {
	select {
	case a := <-p.granting.queued.answer:
		p.takeGrant(a)
	case <-p.ctx.Done():
	case <-p.leaving():
	}
}

// granted feeds the answer of the limiter. Without a limiter all is granted.
func (p *process) granted() ([]machine.Effect, error) {
	g := &p.granting
	answer := &machine.Grant{Scope: canon.UTF8(g.name), Waited: g.waited}
	switch {
	case g.held != nil:
		answer.Turn, answer.Probe, answer.Excused = g.held.Turn, g.held.Probe, g.held.Excused
	case g.denied != nil:
		answer.Denied, answer.Wait, answer.Left = g.denied.Why, g.denied.Wait, g.denied.Left
		p.err, g.denied = g.denied, nil
	}
	at := p.now()
	if p.limiter != nil {
		p.tell(p.ctx, observe.Notice{Kind: observe.Granted, CorrelationID: p.s.ID(), At: at, Grant: answer})
	}
	return p.runner.Step(machine.Event{Kind: machine.Granted, At: at, Grant: answer})
}

// settles returns a context in which what responses say of limits is heard, and a function that tells the
// limiter how the granted call ended.
func (p *process) settles(
	ctx context.Context,
) (context.Context, func(outcome limit.Outcome, tokens int64, err error)) {
	g := p.granting.held
	if p.granting.held = nil; g == nil {
		return ctx, func(limit.Outcome, int64, error) {}
	}
	var last atomic.Pointer[ratelimit.Response]
	ctx = ratelimit.Watch(ctx, func(r ratelimit.Response) { last.Store(&r) })
	return ctx, func(outcome limit.Outcome, tokens int64, err error) {
		u := limiter.Use{Outcome: outcome, Tokens: tokens, Limits: engine.RateLimit(err)}
		if r := last.Load(); r != nil && u.Limits == nil {
			u.Limits = new(r.Limits())
		}
		p.limiter.Settle(*g, u)
	}
}

// dropGrant takes back an ask that waits, and gives back a grant that was not used.
func (p *process) dropGrant() {
	g := &p.granting
	if q := g.queued; q != nil && !p.limiter.Leave(q.Scope, q.ID) {
		if a := <-q.answer; a.Err == nil {
			g.held = &a.Grant
		}
	}
	if g.held != nil {
		p.limiter.Settle(*g.held, limiter.Use{Outcome: limit.Unused})
	}
	g.queued, g.held = nil, nil
}

// answered reports whether the limiter has answered an ask that waits.
func (g *granting) answered() bool { return g.queued != nil && len(g.queued.answer) > 0 }
