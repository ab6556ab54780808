package random

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// drawProgress draws what bounds a run that fails in nothing: cycles of valid calls, caps on what succeeds,
// polls, spending, and the size of prompts. It has dice of its own, so that the rest of a case stays as it
// is.
func (c *Case) drawProgress() {
	d := newDice(c.Seed ^ 0x6e756467)
	if c.Action != nil {
		return
	}
	if set := c.Config.Policy; d.one(3) {
		set.Global.Progress = new(policy.Progress{
			Nudge: pick(d, 0, 1, 2, policy.Unlimited), Planner: pick(d, 0, 1, 2, 3), Stop: pick(d, 0, 2, 4, policy.Unlimited),
			Window: pick(d, 0, 1, 3),
		})
	}
	for n := range c.Tools {
		if l := &c.Tools[n].Policy; d.one(3) {
			l.MaxSuccesses, l.MaxSessionSuccesses = pick(d, nil, new(1), new(2)), pick(d, nil, nil, new(1), new(3))
			l.EqualCalls = pick(d, "", policy.EqualRun, policy.EqualRecorded, policy.EqualRefuse)
			l.EqualInReply = pick(d, "", policy.EqualDeclared, policy.EqualRun, policy.EqualRefuse)
			l.Polling, l.Identity = pick(d, nil, nil, new(2*time.Second)), pick(d, nil, []string{"do"}, []string{"note"})
		}
	}
	c.repeatReplies(d)
	c.drawUsage()
	if d.one(3) {
		c.drawSpending(d)
	}
	if d.one(3) {
		c.drawContext(d)
	}
}

// repeatReplies makes some replies come again, alone or two in turn.
func (c *Case) repeatReplies(d dice) {
	if len(c.Replies) < 2 || !d.one(3) {
		return
	}
	at := d.IntN(len(c.Replies) - 1)
	cycle := slices.Clone(c.Replies[at : at+d.between(1, 2)])
	if slices.ContainsFunc(cycle, func(r replyCase) bool { return r.Cancels || r.Hangs }) {
		return
	}
	spelt, wide := newDice(c.Seed^0x7370656c), newDice(c.Seed^0x77696465)
	if len(cycle[0].Reply.Calls) > 0 && len(c.Tools) > 0 && wide.one(2) {
		cycle[0].Reply.Calls = pick(wide, c.Tools...).manyCalls()
	}
	for range d.between(1, 4) {
		if c.Replies = slices.Insert(c.Replies, at, cycle...); spelt.one(2) {
			c.Replies[at].Reply.Calls = respelt(cycle[0].Reply.Calls)
		}
	}
}

// manyCalls returns more calls than a cycle may have, as models make them side by side. They succeed if any
// do.
func (t toolCase) manyCalls() (calls []message.Call) {
	do := max(slices.IndexFunc(t.Plays, func(p []outcome) bool { return p[0].Kind == returns }), 0)
	for n := range 5 {
		calls = append(calls, message.Call{ID: fmt.Sprint("w", n), Name: t.Name,
			Arguments: fmt.Sprintf(`{"do":%d,"note":"w%d"}`, do, n)})
	}
	return calls
}

// drawUsage draws what models say of caches and thoughts, and counts that no provider should report.
func (c *Case) drawUsage() {
	d := newDice(c.Seed ^ 0x75736167)
	for n := range c.Replies {
		u := &c.Replies[n].Reply.Usage
		if u.APICalls == 0 || !d.one(3) {
			continue
		}
		u.CacheReadTokens, u.CacheWriteTokens = int64(d.IntN(120)), int64(pick(d, 0, 0, 30))
		u.ReasoningTokens = int64(d.IntN(60))
		if d.one(12) {
			u.InputTokens, u.OutputTokens = pick[int64](d, -7, 0, math.MaxInt64), pick[int64](d, -7, 0, math.MaxInt64)
		}
	}
}

// respelt returns calls with another spelling of the same numbers.
func respelt(calls []message.Call) []message.Call {
	calls = slices.Clone(calls)
	for n := range calls {
		calls[n].Arguments = strings.NewReplacer(`"do":0,`, `"do":0.0,`, `"do":0}`, `"do":0e0}`, `"do":1,`, `"do":1.0,`,
			`"do":2,`, `"do":20e-1,`).Replace(calls[n].Arguments)
	}
	return calls
}

// describe names the models, so that the policy's prices know them.
func (c *Case) describe(d dice) {
	if c.Config.Models != nil {
		return
	}
	c.Config.Models = map[string]machine.ModelInfo{"": {Name: "m", MaxOutputTokens: int64(pick(d, 0, 0, 40)), Unbounded: d.one(6)}}
	names := map[string]string{"small": "m-latest", "large": "m-large"} // the former is a version of m
	for _, name := range c.Models {
		c.Config.Models[name] = machine.ModelInfo{Name: names[name]}
	}
	c.Config.Policy.Prices = policy.Prices{"m": {Input: 1_000_000, Output: 3_000_000}, "m-large": {Input: 2_000_000, Output: 9_000_000}}
}

func (c *Case) drawSpending(d dice) {
	c.describe(d)
	s := &c.Config.Policy.Spending
	some := func(most ...int64) *int64 { return pick(d, nil, nil, new(pick(d, most...))) }
	s.Run = policy.Allowance{Cost: some(400, 1500, 5000), TotalTokens: some(300, 2000), OutputTokens: some(60, 300)}
	s.Session = policy.Allowance{Cost: some(1000, 9000), InputTokens: some(900)}
	s.Action = policy.Allowance{Cost: some(500, 2000)}
	s.MaxNextCost, s.MaxReply = some(300, 2000), some(16, 40)
	own := newDice(c.Seed ^ 0x6d6f7374) // so that the rest of a case stays as it is
	for n := range c.Replies {
		if f := &c.Replies[n].Fault; f.Class != "" && own.one(3) {
			f.MaxReply = pick[int64](own, 8, 20, 50)
		}
	}
}

func (c *Case) drawContext(d dice) {
	c.describe(d)
	for _, name := range []string{"m", "m-large"} {
		p := c.Config.Policy.Prices[name]
		p.ContextWindow = pick(d, nil, new(int64(200)), new(int64(800)))
		c.Config.Policy.Prices[name] = p
	}
	steps := []policy.ContextStep{policy.Fold, policy.ClearResults, policy.Summarise, policy.Window}
	d.Shuffle(len(steps), func(a, b int) { steps[a], steps[b] = steps[b], steps[a] })
	c.Config.Policy.Context = policy.Context{
		Steps: pick(d, nil, steps[:d.between(0, 4)]), From: pick(d, nil, new(90)), To: pick(d, nil, new(20)), Keep: pick(d, nil, new(1), new(2)),
	}
	c.Summaries = d.one(2)
}
