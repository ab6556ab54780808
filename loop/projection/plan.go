package projection

import (
	"cmp"
	"slices"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Input is what a plan is made from. All of it is read-only.
type Input struct {
	// Said is the conversation, and Turns its recorded turns, in order.
	Said  []message.Message
	Turns []Turn
	// Cuts are those so far, as [Apply] wants them.
	Cuts []Cut
	// Own are the messages that began the current run. They always stay.
	Own Span
	// Steps are the ways to make the prompt shorter, in their order. Keep is the number of newest turns that
	// stay as they are, 1 or more.
	Steps []policy.ContextStep
	Keep  int
	// Goal is the size that the prompt may have: see [Bytes].
	Goal int
}

// Span is a range of messages: [From, To).
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// CutPlan is how a prompt is made shorter. It is an event of a run, so that nothing depends on texts that a
// journal may leave out. Its JSON form is recorded.
type CutPlan struct {
	// Cuts are the new cuts, in order. Each takes the place of those that it covers: see [Cover].
	Cuts []Cut `json:"cuts,omitempty"`
	// Freed is the number of bytes that the cuts take away; never below 0. Size is the size of the prompt
	// with them, and Goal the wanted size.
	Freed int `json:"freed,omitempty"`
	Size  int `json:"size"`
	Goal  int `json:"goal,omitempty"`
	// Summarise are the messages that have to be summed up to come closer to the goal, or nil: see [Summary].
	Summarise *Span `json:"summarise,omitempty"`
}

// Plan plans cuts that make a prompt as short as the goal, by the steps in their order. They may free less,
// or nothing. Each step begins with the oldest turns and stops at the goal, except that folding takes all
// that can be folded, because the prompt changes at the oldest one anyway.
func Plan(in Input) CutPlan {
	p := newPlanner(in)
	for _, step := range in.Steps {
		if p.size <= in.Goal {
			break
		}
		switch step {
		case policy.Fold:
			p.fold()
		case policy.ClearResults:
			p.clear()
		case policy.Window:
			p.window()
		case policy.Summarise:
			for _, r := range p.oldest() {
				if p.shown(r.span()) > leastSummed {
					return p.made(new(r.span()))
				}
			}
		}
		p.settle()
	}
	return p.made(nil)
}

// leastSummed is the smallest size of messages, in bytes, that is worth a summary.
const leastSummed = 2048

// Summary plans the cut for the summary that a plan of the same input asked for. It frees nothing if the
// summary is longer than what it replaces.
func Summary(in Input, of Span, text string) CutPlan {
	p := newPlanner(in)
	from, _ := slices.BinarySearchFunc(p.parts, of.From,
		func(q part, at int) int { return cmp.Compare(q.From, at) })
	to := from
	for to < len(p.parts) && p.parts[to].To <= of.To {
		to++
	}
	p.take(Cut{Step: policy.Summarise, From: of.From, To: of.To,
		Text: summarised(of.To-of.From, text, p.parts[from:to], p.room())})
	p.settle()
	return p.made(nil)
}

// planner makes cuts.
type planner struct {
	Input
	parts []part
	// last is the number of parts before the newest turns.
	last int
	// cuts are in order. fresh are those of the current step.
	cuts, fresh []Cut
	// was is the size of the prompt before the plan, and size that with all cuts.
	was, size int
}

func newPlanner(in Input) *planner {
	p := &planner{Input: in, parts: partsOf(in.Said, in.Turns), cuts: in.Cuts}
	p.was = Bytes(Apply(in.Said, in.Cuts))
	p.size = p.was
	turns := 0
	for p.last = len(p.parts); p.last > 0 && turns < in.Keep; p.last-- {
		if p.parts[p.last-1].isTurn {
			turns++
		}
	}
	return p
}

// made returns the plan, with the messages that have to be summed up to go on, or nil.
func (p *planner) made(summarise *Span) CutPlan {
	fresh := slices.DeleteFunc(slices.Clone(p.cuts), func(c Cut) bool { return slices.Contains(p.Cuts, c) })
	return CutPlan{Cuts: fresh, Freed: p.was - p.size, Size: p.size, Goal: p.Goal, Summarise: summarise}
}

// stays reports whether a part always stays: the messages that began the run, and those of the system.
func (p *planner) stays(q *part) bool {
	return q.From < p.Own.To && q.To > p.Own.From || p.Said[q.From].Role == message.System
}

// after returns the number of the first cut that does not begin before a message.
func (p *planner) after(at int) int {
	n, _ := slices.BinarySearchFunc(p.cuts, at, func(c Cut, at int) int { return cmp.Compare(c.From, at) })
	return n
}

// room returns the most bytes for the list of calls in what is left out: a quarter of the goal.
func (p *planner) room() int { return p.Goal / 4 }

// gone reports whether a range was cut already, before this step.
func (p *planner) gone(s Span) bool {
	n := p.after(s.From + 1)
	return n > 0 && p.cuts[n-1].To >= s.To
}

// shown returns the size of a range as the prompt shows it.
func (p *planner) shown(s Span) int {
	return Bytes(ApplyTo(p.Said, p.cuts[p.after(s.From):p.after(s.To)], s))
}

// sizeOf returns the size of what takes the place of a cut.
func (p *planner) sizeOf(c *Cut) int { return Bytes(ApplyTo(p.Said, []Cut{*c}, Span{c.From, c.To})) }

// take makes a cut if the prompt gets shorter by it.
func (p *planner) take(c Cut) {
	if gain := p.shown(Span{c.From, c.To}) - p.sizeOf(&c); gain > 0 {
		p.fresh, p.size = append(p.fresh, c), p.size-gain
	}
}

// settle adds the cuts of a step.
func (p *planner) settle() {
	if len(p.fresh) > 0 {
		p.cuts, p.fresh = Cover(p.cuts, p.fresh), nil
	}
}

// fold leaves out the turns of which nothing passed, where all of their actions have passed since.
func (p *planner) fold() {
	passed := map[string]bool{}
	for n := len(p.parts) - 1; n >= 0; n-- {
		q := &p.parts[n]
		for _, name := range q.Passed {
			passed[name] = true
		}
		open := slices.ContainsFunc(q.Failed, func(name string) bool { return !passed[name] })
		if n < p.last && len(q.Failed) > 0 && !open && len(q.Calls) == 0 && !p.gone(q.span()) {
			p.take(Cut{Step: policy.Fold, From: q.From, To: q.To})
		}
	}
}

// clear replaces the results of old calls.
func (p *planner) clear() {
	for n := range p.parts[:p.last] {
		q := &p.parts[n]
		if p.gone(q.span()) {
			continue
		}
		for at := q.From; at < q.To && p.size > p.Goal; at++ {
			m := &p.Said[at]
			result := m.Role == message.Tool || q.Text && at == q.From+1
			if result && !m.IsError && !p.gone(Span{at, at + 1}) {
				p.take(Cut{Step: policy.ClearResults, From: at, To: at + 1, Text: cleared(m)})
			}
		}
	}
}

// window leaves out the oldest parts.
func (p *planner) window() {
	for _, r := range p.oldest() {
		at := r.span()
		p.take(Cut{Step: policy.Window, From: at.From, To: at.To, Text: leftOut(at.To-at.From, r, p.room())})
	}
}

// row are parts that follow each other, none of which has to stay.
type row []part

func (r row) span() Span { return Span{r[0].From, r[len(r)-1].To} }

// oldest returns the oldest parts, as many as must go to reach the goal. If it cannot be reached, they are
// all before the newest turns.
func (p *planner) oldest() (rows []row) {
	first, size := -1, p.size
	end := func(n int) {
		if first >= 0 {
			rows = append(rows, p.parts[first:n])
		}
		first = -1
	}
	for n := range p.parts[:p.last] {
		q := &p.parts[n]
		switch gone := p.gone(q.span()); {
		case p.stays(q):
			end(n)
			continue
		case !gone && size <= p.Goal:
			end(n)
			return rows
		case !gone:
			size -= p.shown(q.span()) - len(receipts([]part{*q}, p.room()))
		}
		if first < 0 {
			first = n
			size += len(leftOut(0, nil, 0))
		}
	}
	end(p.last)
	return rows
}
