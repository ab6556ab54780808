package engine

import (
	"time"

	"github.com/retake-go/retake/internal/after"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Outer is the call of a tool within which another run is made: what the two have to do with each other,
// wherever they run. The id of the inner session and its seed are those of [machine.State.Child].
type Outer struct {
	// State is that of the run around, and Run the call, as they were when the call began.
	State machine.State
	Run   machine.ToolRun
	// Depth is how many runs are around the outer run, and Deepest how many there may be around another.
	Depth, Deepest int
}

// TooDeep reports whether no run may be made within the call.
func (o *Outer) TooDeep() bool { return o.Depth >= o.Deepest }

// Depths returns Depth and Deepest of the inner run. own is how many runs its config allows within it.
func (o *Outer) Depths(own int) (depth, deepest int) {
	return o.Depth + 1, min(o.Deepest, o.Depth+1+own)
}

// Bound returns the policy of the inner run: its own, nil for [policy.DefaultSet], bounded by an even share
// of what the outer run had left when the reply came: see [machine.State.Bound].
func (o *Outer) Bound(own *policy.Set) policy.Set {
	set := policy.DefaultSet()
	if own != nil {
		set = *own
	}
	return o.State.Bound(o.Run.Index, set)
}

// Deadline returns the earliest of the inner run's own deadline, zero for none, that of the outer run, and
// the end of the call that begins now.
func (o *Outer) Deadline(own, now time.Time) time.Time {
	first := after.Sooner(own, o.State.Config.Deadline)
	if d := o.Run.Timeout; d > 0 {
		first = after.Sooner(first, now.Add(d))
	}
	return first
}

// Inner returns the id of the inner run's session, and cfg as the config of a run that begins now: with the
// seed, the request and the deadline that follow from the call. Its policy is to be that of [Outer.Bound].
func (o *Outer) Inner(cfg machine.Config, now time.Time) (session string, _ machine.Config) {
	session, cfg.Seed = o.State.Child(o.Run.Index)
	cfg.RequestID, cfg.Deadline = session, o.Deadline(time.Time{}, now)
	return session, cfg
}

// Untold returns of what the inner run has consumed what is to be added to the call: the outer run has been
// told the rest at the end of an earlier try, or of the call in doubt that it repeats.
func (o *Outer) Untold(used message.Usage, cost int64) (message.Usage, int64) {
	told := &o.State.Batch.Calls[o.Run.Index].Consumed
	return less(used, told.Usage), max(cost-told.Cost, 0)
}

// Cost returns what an event added to the cost of an inner run, which was before; nil if that is not known.
// Models in the table of prices may cost nothing.
func Cost(st *machine.State, before int64, ev *machine.Event) *int64 {
	cost := st.Charged.Cost - before
	if ev.Reply != nil {
		if _, known := st.Policy.Prices.Of(ev.Reply.Message.Model); known {
			return new(cost)
		}
	}
	if cost <= 0 {
		return nil
	}
	return new(cost)
}

// less returns what a usage has more than another one.
func less(u, v message.Usage) message.Usage {
	return message.Usage{
		InputTokens: max(u.InputTokens-v.InputTokens, 0), OutputTokens: max(u.OutputTokens-v.OutputTokens, 0),
		CacheReadTokens:  max(u.CacheReadTokens-v.CacheReadTokens, 0),
		CacheWriteTokens: max(u.CacheWriteTokens-v.CacheWriteTokens, 0),
		ReasoningTokens:  max(u.ReasoningTokens-v.ReasoningTokens, 0), APICalls: max(u.APICalls-v.APICalls, 0),
	}
}
