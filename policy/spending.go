package policy

import (
	"math"

	"github.com/retake-go/retake/message"
)

// Spending bounds what the model calls of runs consume. Before a call its cost is projected, and a call that
// does not fit is not made: the run ends with [ReasonTokenBudget] or [ReasonCostBudget]. A reply is bounded
// by what is left. The zero value bounds nothing.
type Spending struct {
	// Action (action) applies to each action: the calls that made its attempts, with those of them that
	// failed. A call that made attempts of several actions counts for each.
	Action Allowance `json:"action,omitzero" policy:"action"`
	// Run (run) applies to all calls of a run, with those of runs that its tools make.
	Run Allowance `json:"run,omitzero" policy:"run"`
	// Session (session) applies to all runs of a session with prices or spending.
	Session Allowance `json:"session,omitzero" policy:"session"`
	// MaxNextCost (max_next_cost) is the most that one call may cost, in the unit of a [Price]; nil means no
	// limit.
	MaxNextCost *int64 `json:"max_next_cost,omitempty" policy:"max_next_cost,millionths"`
	// MaxReply (max_reply) is the most tokens of one reply, with its reasoning: at least [LeastReply]; nil
	// means no bound but what is left.
	MaxReply *int64 `json:"max_reply,omitempty" policy:"max_reply,least=16"`
}

// Allowance is what model calls may consume together. Nil means no limit. Limits are 0 or more.
type Allowance struct {
	// InputTokens (input_tokens), OutputTokens (output_tokens), CachedTokens (cached_tokens) and
	// ReasoningTokens (reasoning_tokens) are counted as in [message.Usage]: cached tokens, read or written,
	// are part of the input, and reasoning is part of the output. TotalTokens (total_tokens) is input and
	// output. Nobody knows before a call how much of the reply is reasoning and how much of the prompt is
	// cached, so the call that uses up such a limit may pass it.
	InputTokens     *int64 `json:"input_tokens,omitempty" policy:"input_tokens"`
	OutputTokens    *int64 `json:"output_tokens,omitempty" policy:"output_tokens"`
	CachedTokens    *int64 `json:"cached_tokens,omitempty" policy:"cached_tokens"`
	ReasoningTokens *int64 `json:"reasoning_tokens,omitempty" policy:"reasoning_tokens"`
	TotalTokens     *int64 `json:"total_tokens,omitempty" policy:"total_tokens"`
	// Cost (cost) is money in the unit of a [Price]: 50_000 is 0.05. Every model then needs a price.
	Cost *int64 `json:"cost,omitempty" policy:"cost,millionths"`
}

// IsZero reports whether a limits nothing.
func (a Allowance) IsZero() bool { return a == Allowance{} }

// IsZero reports whether s bounds nothing.
func (s Spending) IsZero() bool { return s == Spending{} }

// Costs reports whether s bounds money, so that every model needs a price.
func (s Spending) Costs() bool {
	return s.MaxNextCost != nil || s.Action.Cost != nil || s.Run.Cost != nil || s.Session.Cost != nil
}

// Meters reports whether runs count what their calls cost: the set has prices, or bounds spending.
func (s *Set) Meters() bool { return len(s.Prices) > 0 || !s.Spending.IsZero() }

// Charge is what one or more model calls cost.
type Charge struct {
	// Usage counts tokens. Those of an estimated call are projected.
	Usage message.Usage `json:"usage,omitzero"`
	// Cost is in the unit of a [Price]. Each call is rounded up once.
	Cost int64 `json:"cost_micros,omitempty"`
	// Estimated is the number of calls without usage, which were charged what was projected, and of those of
	// other models whose price nobody knows, which have that of the run's model.
	Estimated int64 `json:"estimated,omitempty"`
}

// Plus returns the sum of both. Counts below 0 are none, and sums saturate at the largest int64.
func (c Charge) Plus(d Charge) Charge {
	return Charge{c.Usage.Add(d.Usage), plus(c.Cost, d.Cost), plus(c.Estimated, d.Estimated)}
}

type limit struct {
	key    string
	reason Reason
	most   func(*Allowance) **int64
	of     func(Charge) int64
}

// limits has the limits of an [Allowance], in its order.
var limits = [...]limit{
	{"input_tokens", ReasonTokenBudget, func(a *Allowance) **int64 { return &a.InputTokens },
		func(c Charge) int64 { return c.Usage.InputTokens }},
	{"output_tokens", ReasonTokenBudget, func(a *Allowance) **int64 { return &a.OutputTokens },
		func(c Charge) int64 { return c.Usage.OutputTokens }},
	{"cached_tokens", ReasonTokenBudget, func(a *Allowance) **int64 { return &a.CachedTokens },
		func(c Charge) int64 { return plus(c.Usage.CacheReadTokens, c.Usage.CacheWriteTokens) }},
	{"reasoning_tokens", ReasonTokenBudget, func(a *Allowance) **int64 { return &a.ReasoningTokens },
		func(c Charge) int64 { return c.Usage.ReasoningTokens }},
	{"total_tokens", ReasonTokenBudget, func(a *Allowance) **int64 { return &a.TotalTokens },
		func(c Charge) int64 { return c.Usage.Total() }},
	{"cost", ReasonCostBudget, func(a *Allowance) **int64 { return &a.Cost },
		func(c Charge) int64 { return c.Cost }},
}

// Spent is what was spent so far: by the actions that are being corrected, the run and the session. If no
// action is being corrected, the next call is the first of one.
type Spent struct {
	Actions []Charge `json:"actions,omitempty"`
	Run     Charge   `json:"run,omitzero"`
	Session Charge   `json:"session,omitzero"`
}

// scope is an allowance and what was spent of it.
type scope struct {
	name  string
	limit *Allowance
	spent Charge
}

// maxNextCost is the key of the only limit that has no scope.
const maxNextCost = "max_next_cost"

func (sc scope) key(l *limit) string {
	if sc.name == maxNextCost {
		return sc.name
	}
	return sc.name + "." + l.key
}

// each calls f for each limit that is set, with its scope and what is left of it, until f returns false.
func (s *Spending) each(spent *Spent, f func(l *limit, in scope, left int64) bool) {
	actions := spent.Actions
	if len(actions) == 0 {
		actions = make([]Charge, 1) // the next call begins one
	}
	goOn := scope{"run", &s.Run, spent.Run}.each(f) && scope{"session", &s.Session, spent.Session}.each(f)
	for n := 0; goOn && n < len(actions); n++ {
		goOn = scope{"action", &s.Action, actions[n]}.each(f)
	}
	if goOn && s.MaxNextCost != nil {
		scope{maxNextCost, &Allowance{Cost: s.MaxNextCost}, Charge{}}.each(f)
	}
}

// each calls f for each limit of the scope that is set, and reports whether f always returned true.
func (sc scope) each(f func(l *limit, in scope, left int64) bool) bool {
	for n := range limits {
		l := &limits[n]
		if most := *l.most(sc.limit); most != nil && !f(l, sc, *most-l.of(sc.spent)) {
			return false
		}
	}
	return true
}

// Passed returns the first limit that was passed, and by how much: Left is below 0. It returns a zero Detail
// if none was.
func (s *Spending) Passed(spent Spent) (found Detail) {
	s.each(&spent, func(l *limit, in scope, left int64) bool {
		if left < 0 {
			found = Detail{Budget: in.key(l), Left: left}
		}
		return left >= 0
	})
	return found
}

// LeastReply is the smallest reply that a call must have room for, in tokens. Providers refuse to be asked
// for less.
const LeastReply = 16

// Fits decides whether a call fits what is left: a prompt that takes prompt, and a reply of [LeastReply] at
// price. If it does not fit, why.Reason says why; else that is empty. most is the most tokens of the reply
// that fit, and by is the limit behind it; most is below 0 if nothing bounds the reply.
func (s *Spending) Fits(
	spent Spent, prompt message.Usage, price Price,
) (why Decision, most int64, by Detail) {
	least, most := prompt, int64(-1)
	least.OutputTokens = LeastReply
	reasoned := least
	reasoned.ReasoningTokens = least.OutputTokens
	takes := Charge{Usage: least, Cost: max(price.Cost(least).Micros(), price.Cost(reasoned).Micros())}
	s.each(&spent, func(l *limit, in scope, left int64) bool {
		need := l.of(takes)
		if l.key == "reasoning_tokens" && l.of(spent.Run) > 0 {
			need = 1 // a model that reasons will do so again
		}
		if need > left {
			why = Decision{Reason: l.reason, Detail: Detail{Budget: in.key(l), Left: max(left, 0), Takes: need}}
			return false
		}
		if room := l.room(left, prompt, price); room >= 0 && (most < 0 || room < most) {
			most, by = room, Detail{Budget: in.key(l), Left: left}
		}
		return true
	})
	if s.MaxReply != nil && (most < 0 || *s.MaxReply < most) {
		most, by = *s.MaxReply, Detail{}
	}
	return why, most, by
}

// room returns the most tokens of a reply that fit what is left after the prompt, or -1 if the limit does not
// bound replies.
func (l *limit) room(left int64, prompt message.Usage, price Price) int64 {
	switch l.key {
	case "output_tokens":
		return left
	case "total_tokens":
		return left - prompt.InputTokens
	case "cost":
		dearest := price.Output
		if price.Reasoning != nil {
			dearest = max(dearest, *price.Reasoning)
		}
		if dearest == 0 || left > math.MaxInt64/1_000_000 {
			return -1
		}
		c := price.Cost(prompt)
		return max(left*1e6-plus(c.Input, plus(c.CacheRead, c.CacheWrite)), 0) / dearest
	}
	return -1
}
