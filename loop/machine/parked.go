package machine

import (
	"slices"
	"time"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Parked is a [State] without its session in a third of its room, for drivers that keep very many that wait. Make it with [Park].
// It is read-only.
type Parked struct {
	config     *Config
	policy     *policy.Set
	words      *words
	policies   *policies
	phase      Phase
	at         time.Time
	transcript message.Transcript
	run, turn  int
	first      int
	opened     int
	transport  int
	held       time.Duration
	waited     time.Duration
	actions    []Action
	resume     *Wait
	hold       *Wait
	next       next
	rare       *rare
}

// rare is what most states that wait have none of.
type rare struct {
	model, system string
	spent         Spent
	batch         *Batch
	consults      []Consultation
	exhausted     *Exhaustion
	owed, usage   message.Usage
	warnings      []string
	outcome       *Outcome
}

// isZero reports whether there is nothing rare.
func (r *rare) isZero() bool {
	return r.model == "" && r.system == "" && r.spent.Run == 0 && r.spent.Unknown == 0 && r.spent.Tools == nil && r.batch == nil &&
		r.consults == nil && r.exhausted == nil && r.warnings == nil && r.outcome == nil && r.owed == (message.Usage{}) &&
		r.usage == (message.Usage{})
}

// Park is the state without its session, which the driver keeps, in little room. A state that waits shares nothing then with the [Room]
// that it was stepped in.
func Park(st *State) *Parked {
	p := &Parked{
		config: st.Config, policy: st.Policy, words: st.words, policies: st.policies, phase: st.Phase, at: st.At,
		transcript: st.Transcript.Tight(), run: st.Run, turn: st.Turn, first: st.First, opened: st.Opened, transport: st.Transport,
		held: st.TransportWaited, waited: st.Waited, actions: parkedActions(st.Actions), resume: st.Resume, hold: st.Hold, next: st.Next,
	}
	r := rare{
		model: st.Model, system: st.System, spent: st.Spent, batch: st.Batch.clone(), consults: st.Consults, exhausted: st.Exhausted,
		owed: st.Owed, usage: st.Usage, warnings: st.Warnings, outcome: st.Outcome,
	}
	r.spent.Tools = slices.Clone(r.spent.Tools)
	if !r.isZero() {
		p.rare = new(r)
	}
	return p
}

// clone is a batch of its own; nil where there is none.
func (b *Batch) clone() *Batch {
	if b == nil {
		return nil
	}
	own := *b
	own.Calls = slices.Clone(b.Calls)
	return &own
}

// parkedActions are actions whose feedback is in memory of its own: what the session's log has it in is more than that.
func parkedActions(actions []Action) []Action {
	own := slices.Clone(actions)
	for n := range own {
		a := &own[n]
		if a.proposed = nil; a.Last != nil {
			a.Last = new(*a.Last)
		}
	}
	return own
}

// State is the state that was parked, of that session.
func (p *Parked) State(held session.State) State {
	st := State{
		Config: p.config, Policy: p.policy, words: p.words, policies: p.policies, Phase: p.phase, At: p.at, Session: held,
		Transcript: p.transcript, Run: p.run, Turn: p.turn, First: p.first, Opened: p.opened, Transport: p.transport,
		TransportWaited: p.held, Waited: p.waited, Actions: p.actions, Resume: p.resume, Hold: p.hold, Next: p.next,
	}
	if r := p.rare; r != nil {
		st.Model, st.System, st.Spent, st.Batch, st.Consults, st.Exhausted = r.model, r.system, r.spent, r.batch, r.consults, r.exhausted
		st.Owed, st.Usage, st.Warnings, st.Outcome = r.owed, r.usage, r.warnings, r.outcome
	}
	return st
}

// Pending is the effect that the state waits for the end of, where it waits; its kind is empty where it does not.
func (st *State) Pending() Effect {
	if w := st.due(st.Next); st.Phase == Waiting && w != nil {
		return Effect{Kind: WaitUntil, Wait: w}
	}
	return Effect{}
}
