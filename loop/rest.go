package loop

import (
	"context"
	"time"

	"github.com/retake-go/retake/internal/after"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// This file is how a process begins to work, and how a run rests in a pool until it works again.

// work is what a process has only while it works: a run that rests in a pool has none of it.
type work struct {
	// in is what the run is given; nil once it has begun, and if it is resumed. action is the action of
	// tries, which never rest; nil for a run.
	in     *Input
	action *Action
	// life is the context that ends the work, and release frees it; may be nil. ctx is life with the values
	// of tracers.
	life, ctx context.Context
	release   context.CancelFunc
	// until also cancels model calls, and then leaves the run to be resumed; may be nil.
	until context.Context
	// recorded is the end of the run if an earlier run of the journal answered the request, else nil.
	recorded *journal.Ended
	// broke is why the run cannot continue, and ending why it was ended from outside.
	broke, ending error
	// exhaustion is that of the run's state, or nil.
	exhaustion *machine.Question
	// copies are those of the conversation that the last request had, and copiedFor the name of its model.
	copies    []message.Message
	copiedFor string
	// alarms end the calls that take too long, and the run at its deadline.
	alarms alarms
}

// work returns what a process needs to work.
func (o *options) work() *work { return &work{alarms: alarms{after.Alarms{Clock: o.clock}}} }

// live sets the context of the work. It also ends at the deadline of a run that has begun.
func (p *process) live(life context.Context) {
	if p.free(); p.work == nil {
		p.work = p.options.work()
	}
	if err := p.journal.Wake(); err != nil {
		p.broke = err
	}
	life = p.guarded(life)
	st := p.unpacked()
	if c := st.Config; c != nil {
		life, p.release = p.alarms.bounded(life, c.Deadline)
	}
	p.exhaustion = st.Exhaustion()
	if p.life, p.ctx = life, life; p.values != nil {
		p.ctx = valueContext{life, p.values}
	}
}

// free ends the context of the work, if it is not that of the caller.
func (p *process) free() {
	if p.work != nil && p.release != nil {
		p.release()
		p.release = nil
	}
}

// longWait is the shortest wait for which the journal of a run in a pool rests. Waking it costs some system
// calls.
const longWait = time.Second

// restLong lets the journal rest, with its file closed, if the run waits for long, and packs the state if it
// waits for a person.
func (p *process) restLong() {
	var until time.Time
	switch p.asked.Kind {
	case machine.WaitUntil:
		until = p.asked.Wait.Until
	case machine.AskPerson:
		until = p.askedUntil()
		p.runner.Pack()
	}
	if until.Sub(p.now()) >= longWait {
		p.journal.Rest()
	}
}

// unpacked returns the state of a run that may have waited for long.
func (p *process) unpacked() machine.State {
	st := p.runner.State()
	if p.asked.Kind == machine.AskPerson {
		p.asked = &machine.Effect{Kind: machine.AskPerson, Asks: st.Asks()}
	}
	return st
}

// nothing is what a run asks for that has not begun, and asksPerson what one does that rests until a person
// answers.
var nothing, asksPerson = &machine.Effect{}, &machine.Effect{Kind: machine.AskPerson}

// rest drops what a waiting run does not need.
func (p *process) rest() {
	p.free()
	p.work = nil
	if p.asked.Kind == machine.AskPerson {
		p.asked = asksPerson
	} else {
		p.asked = new(*p.asked) // without the other effects of its step
	}
	if p.asked.Kind == machine.WaitUntil && p.failed == nil {
		p.err = nil // the error belongs to the event before the wait
	}
}
