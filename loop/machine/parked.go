package machine

import (
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/packed"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Parked is a [State] without its session in a fraction of its room, for drivers that keep very many that wait. Make it with [Park].
// It is read-only.
type Parked struct {
	// compiled are config and words, or what they were derived from with what small has of them.
	compiled Compiled
	// small is what is in every state, and who said the texts: see [State.lay].
	small string
	texts []string
	rare  *rare
}

// rare is what many states that wait have none of.
type rare struct {
	// transcript is what was said, where that is not short, or more than texts.
	transcript    message.Transcript
	model, system string
	// told is the feedback of open actions that is not found in the session.
	told        []*feedback.RetryFeedback
	batch       *Batch
	consults    []Consultation
	exhausted   *Exhaustion
	owed, usage message.Usage
	warnings    []string
	outcome     *Outcome
	// adjusted is set where the policy is not that of the config.
	adjusted bool
	policy   *policy.Set
	policies *policies
}

// isZero reports whether there is nothing rare.
func (r *rare) isZero() bool {
	return r.transcript.Len() == 0 && r.model == "" && r.system == "" && r.told == nil && r.batch == nil && r.consults == nil &&
		r.exhausted == nil && r.warnings == nil && r.outcome == nil && !r.adjusted && r.owed == (message.Usage{}) && r.usage == (message.Usage{})
}

// Park is the state without its session, which the driver keeps, in little room. A state that waits shares nothing then with the [Room]
// that it was stepped in. Times are in UTC afterwards.
func Park(st *State) *Parked {
	var small packed.Room
	p := &Parked{compiled: Compiled{st.Config, st.words}}
	of := st.source()
	derived := of != nil
	if packed.Flag(&small, &derived); derived {
		p.compiled = *of
		layOwn(&small, &st.Config.Seed, &st.Config.Deadline)
	}
	st.lay(&small)
	r := rare{
		model: st.Model, system: st.System, batch: st.Batch.clone(), consults: st.Consults, exhausted: st.Exhausted,
		owed: st.Owed, usage: st.Usage, warnings: st.Warnings, outcome: st.Outcome,
	}
	st.layOpen(&small, &r.told)
	if r.adjusted = !st.ownsPolicy(); r.adjusted {
		r.policy, r.policies = st.Policy, st.policies
	}
	if isTalk(st.Transcript) {
		p.texts = layTalk(&small, st.Transcript)
	} else {
		r.transcript = st.Transcript.Tight()
	}
	p.small = small.String()
	if !r.isZero() {
		p.rare = new(r)
	}
	return p
}

// source is what the config was derived from; nil where it was not, or cannot be so again.
func (st *State) source() *Compiled {
	w := st.words
	if w == nil || w.of == nil || w.own != st.Config || st.Config.Deadline != st.Config.Deadline.UTC().Round(0) {
		return nil
	}
	return w.of
}

// layOwn lays what one config has of its own beside that which it was derived from, or takes it.
func layOwn(r *packed.Room, seed *string, deadline *time.Time) {
	packed.Text(r, seed)
	packed.Time(r, deadline)
}

// ownsPolicy reports whether the policy is that of the config.
func (st *State) ownsPolicy() bool {
	return st.Config != nil && st.words != nil && st.Policy == &st.Config.Policy && st.policies == st.words.policies
}

// lay lays what is in every state, or takes it.
func (st *State) lay(r *packed.Room) {
	packed.Word(r, &st.Phase, Waiting, Calling, Running)
	packed.Word(r, &st.Next, "", NextTurn, NextCall, NextTools, NextTry)
	packed.Time(r, &st.At)
	for _, n := range []*int{&st.Run, &st.Turn, &st.First, &st.Opened, &st.Transport} {
		packed.Int(r, n)
	}
	packed.Int(r, &st.TransportWaited)
	others := st.Waited - st.TransportWaited // mostly none
	packed.Int(r, &others)
	st.Waited = st.TransportWaited + others
	layWait(r, &st.Resume, others)
	layWait(r, &st.Hold, st.TransportWaited)
}

// layWait lays a wait, or takes it. Its delay mostly is all that was waited.
func layWait(r *packed.Room, w **Wait, waited time.Duration) {
	waits := *w != nil
	if packed.Flag(r, &waits); !waits {
		return
	}
	if r.Takes() {
		*w = new(Wait)
	}
	packed.Time(r, &(*w).Until)
	before := waited - (*w).Delay
	if packed.Int(r, &before); r.Takes() {
		(*w).Delay = waited - before
	}
	packed.Word(r, &(*w).Plane, fault.Correction, fault.Transport)
	packed.Word(r, &(*w).Reason, policy.Backoff, policy.ServerAsked)
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

// State is the state that was parked, of that session.
func (p *Parked) State(held session.State) State {
	small := packed.From(p.small)
	c := p.config(&small)
	st := State{Config: c.cfg, words: c.words, Session: held}
	st.lay(&small)
	var r rare
	if p.rare != nil {
		r = *p.rare
	}
	st.layOpen(&small, &r.told)
	if st.Transcript = talk(&small, p.texts); !r.adjusted {
		st.Policy, st.policies = &c.cfg.Policy, c.words.policies
	}
	r.give(&st)
	return st
}

// config is the config that the run was under, of which small has what it lays of its own.
func (p *Parked) config(small *packed.Room) *Compiled {
	var own struct {
		derived  bool
		seed     string
		deadline time.Time
	}
	if packed.Flag(small, &own.derived); !own.derived {
		return &p.compiled
	}
	layOwn(small, &own.seed, &own.deadline)
	return p.compiled.derived(own.seed, own.deadline)
}

// give gives what is rare to a state.
func (r *rare) give(st *State) {
	if r.transcript.Len() > 0 {
		st.Transcript = r.transcript
	}
	st.Model, st.System, st.Batch = r.model, r.system, r.batch
	st.Consults, st.Exhausted, st.Owed, st.Usage = r.consults, r.exhausted, r.owed, r.usage
	st.Warnings, st.Outcome = r.warnings, r.outcome
	if r.adjusted {
		st.Policy, st.policies = r.policy, r.policies
	}
}

// Pending is the effect that the state waits for the end of, where it waits; its kind is empty where it does not.
func (st *State) Pending() Effect {
	if w := st.due(st.Next); st.Phase == Waiting && w != nil {
		return Effect{Kind: WaitUntil, Wait: w}
	}
	return Effect{}
}
