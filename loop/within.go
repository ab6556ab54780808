package loop

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// The errors of [Loop.Within] before anything was done.
var (
	// ErrNotWithin: the context is not that of a tool's call in a run of this package.
	ErrNotWithin = errors.New("loop: this run is made only within a tool's call in a run of package loop: an " +
		"engine such as Temporal or DBOS could not continue it after a crash, and has agents of its own (Agents)")
	// ErrTooDeep: there are too many runs around this one.
	ErrTooDeep = errors.New("loop: too many runs are nested")

	errMadeTwice = errors.New("loop: a run was made within this call: make one a call, or give the agents a tool each")
)

// outer is the call of a tool in a run, as it was when the call began. Of the process only that is read which
// does not change during a run.
type outer struct {
	process *process
	// until ends when a run within has to leave this process, to be continued later. It is nil if that run
	// has to end before the call does. left reports that a run was left in this way.
	until context.Context
	left  atomic.Bool
	// made reports that a run was made within the call. With a journal, that is what says so of a second one.
	made atomic.Bool
	// again reports that the call is made again if the run around it is left. stuck is then why it has to be.
	again bool
	stuck atomic.Pointer[leftInside]
	// cutOff reports that an earlier try of the call was cut off, and inside that what the call does is done
	// in a run within it, which says itself what is in doubt.
	cutOff bool
	inside atomic.Bool
	engine.Outer
}

// Within is [Loop.Run] for a run within the call of a tool, under the context of that call, by which it
// belongs to the run around it:
//
//   - Its session has the id of [machine.State.Child]; its RequestID, its seed and the keys of its calls
//     follow from that. Those of in are not used.
//   - If the outer run has a journal, this run has one in the same store, with the same settings. The same
//     call made again, after a crash for example, continues the run or returns its recorded end. So a tool
//     that does all of its work in such runs may be declared [tool.Idempotent].
//   - It ends at the deadline of the call and of the outer run. Its spending and its budget of failed
//     attempts are bounded by an even share of what the outer run had left when the reply came: the calls of
//     the reply that were to run divide it. Its usage is added to the call's.
//   - If its journal cannot be written, the outer run is left to be resumed ([ErrSuspended]), unless the call
//     cannot be made again: then it fails, in doubt.
//   - What it leaves in doubt is in doubt outside, too, whatever the tool returns: see [tool.Doubt].
//   - Its clock and its approver are those of the outer run, unless its own options set them. Questions to
//     people are answered where those of the outer run are, under the id of this session.
//
// It may be called once in a call. Errors are those of Run, [ErrNotWithin], [ErrTooDeep], and an error of
// [journal.ErrConflict] while another process still makes the run.
func (l *Loop) Within(ctx context.Context, in Input) (Result, error) {
	if err := l.unmade(); err != nil {
		return Result{}, err
	}
	if ctx == nil {
		return Result{}, errNoContext
	}
	o, _ := ctx.Value(viewKey{}).(*outer)
	switch {
	case o == nil:
		return Result{}, ErrNotWithin
	case o.TooDeep():
		return Result{}, fmt.Errorf("%w: there are %d around this one, and MaxDepth allows no more", ErrTooDeep,
			o.Depth+1)
	case o.process.journal == nil && o.made.Swap(true):
		return Result{}, errMadeTwice
	}
	o.inside.Store(true)
	r, err := l.within(ctx, o, in)
	if doubts(&r, err) {
		_ = tool.Doubt(ctx) // an error says that no tool waits for it any more
	}
	return r, err
}

// doubts reports whether a nested run left something in doubt: a call, or all of it if it has no end.
func doubts(r *Result, err error) bool {
	if _, ended := errors.AsType[*RetryExhaustedError](err); err != nil && !ended {
		return true
	}
	return len(r.InDoubt) > 0
}

// within is Within, in a call.
func (l *Loop) within(ctx context.Context, o *outer, in Input) (Result, error) {
	entered := false
	defer func() {
		if !entered {
			o.made.Store(false)
		}
	}()
	own := *l
	own.options = o.options(l.options)
	set := o.Bound(l.cfg.Policy)
	own.cfg.Policy = &set
	compiled, err := own.cfg.ready(own.options) // New has checked the models; a bound they cannot keep ends the run
	if err != nil {
		return Result{}, err
	}
	s, err := o.session()
	if err != nil {
		if errors.Is(err, journal.ErrUnwritable) {
			o.leave(err)
		}
		return Result{}, err
	}
	defer closeJournal(s)
	in.RequestID, in.NewConversation = s.ID(), true
	in.Deadline = o.Deadline(in.Deadline, own.clock.Now())
	p, err := newProcess(ctx, own.options, s, &own.cfg, &in)
	if err != nil {
		return Result{}, err
	}
	p.depth, p.deepest = o.Depths(p.deepest)
	p.takesMail(nil)
	fresh, err := p.enter(compiled, false)
	if err != nil {
		o.leave(p.unwritten())
		return Result{}, err
	}
	entered = true
	if !fresh {
		p.addPast(ctx, o)
	}
	p.until = o.until
	r, err := p.finish(fresh)
	o.left.Store(p.away() && errors.Is(err, ErrSuspended))
	o.leave(p.unwritten())
	return r, err
}

// options returns the options of a nested run.
func (o *outer) options(own *options) *options {
	all := *own
	all.askers = o.process.askers
	if all.clock == standard.clock {
		all.clock = o.process.clock
	}
	if all.approver == nil {
		all.approver = o.process.approver
	}
	return &all
}

// session makes the session of a nested run, with its journal if the outer run has one.
func (o *outer) session() (*session.Session, error) {
	var cfg session.Config
	cfg.ID, cfg.Seed = o.State.Child(o.Run.Index)
	if j := o.process.journal; j != nil {
		own, err := j.Beside(cfg.ID)
		if err != nil {
			return nil, err
		}
		cfg.Journal = own
	}
	return session.New(cfg)
}

// closeJournal closes the journal of a nested run. What it could not write has ended the run.
func closeJournal(s *session.Session) {
	if j, err := journal.Of(s); err == nil && j != nil {
		_ = j.Close()
	}
}

// addPast adds what the run consumed in an earlier process to the call around it, but for what the outer
// run has been told: at the end of an earlier try, or of the call in doubt that it repeats.
func (p *process) addPast(ctx context.Context, o *outer) {
	var used message.Usage
	var cost int64
	if p.recorded != nil {
		used, cost = p.recorded.Outcome.Usage, p.recorded.Outcome.Cost
	} else {
		st := p.runner.State()
		used, cost = st.Usage, st.Charged.Cost
	}
	used, cost = o.Untold(used, cost)
	_ = tool.AddUsage(ctx, used) // an error says that no tool waits for it any more
	if cost > 0 {
		_ = tool.AddCost(ctx, cost)
	}
}
