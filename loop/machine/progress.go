package machine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/prompt"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// maxPeriod is the most calls of a cycle.
const maxPeriod = 4

// finishedCall is a call of the run that has its answer, as the search for cycles sees it.
type finishedCall struct {
	// Same is the digest of the call's tool, identity and answer; empty for a poll with news, which equals no
	// other call.
	Same string `json:"same,omitempty"`
	// Period is the number of calls of the cycle of which this call completed a round; 0 for none.
	Period int `json:"period,omitempty"`
	// Rounds is how many rounds of that cycle were made with it; 0 without one.
	Rounds int `json:"rounds,omitempty"`
	// New reports that no call in the window before it was the same.
	New bool `json:"new,omitempty"`
}

// Cycle is a sequence of 1 to 4 calls that was repeated, and whose results stayed the same.
type Cycle struct {
	// Rounds are the complete rounds that count. For an interrupted cycle they may be fewer than were made.
	Rounds int `json:"rounds"`
	// Calls are those of the last round, in their order.
	Calls []CycleCall `json:"calls"`
}

// CycleCall is one call of a [Cycle], or a reply of five or more different calls, which counts as one call.
type CycleCall struct {
	Tool string `json:"tool"`
	// Arguments and Answer are the canonical arguments, and what the model was told, cut to 256 bytes each.
	Arguments string `json:"arguments,omitempty"`
	Answer    string `json:"answer,omitempty"`
	// ReadOnly is that of [Call].
	ReadOnly bool `json:"read_only,omitempty"`
	// Others is the number of other calls of its reply that were repeated with it; 0 for a call that counts
	// by itself.
	Others int `json:"others,omitempty"`
}

// maxShownCall bounds the arguments and the answer of a [CycleCall], in bytes.
const maxShownCall = 256

// String returns what was repeated and what it returned: `get_status {"id":1} gave "pending"`. All texts are
// quoted for a prompt.
func (c *Cycle) String() string {
	calls := make([]string, len(c.Calls))
	most := feedback.MaxQuoted/max(len(c.Calls), 1)/2 - len(" gave , then ")
	for n, one := range c.Calls {
		beside := one.beside()
		each := most - len(beside)/2
		calls[n] = feedback.Name(one.Tool) + " " + feedback.QuoteWithin(one.Arguments, each) +
			" gave " + feedback.QuoteWithin(one.Answer, each) + beside
	}
	return strings.Join(calls, ", then ")
}

// beside tells of the other calls of a reply that counts as one call.
func (c *CycleCall) beside() string {
	if c.Others == 0 {
		return ""
	}
	return " in a reply with " + several.Of(c.Others, "other call")
}

// waits returns what to set if the calls of the cycle wait for something, for operators.
func (c *Cycle) waits() string {
	var keys []string
	for _, one := range c.Calls {
		if key := "tools." + one.Tool + ".polling"; !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return "if these calls wait for something, declare it with tool.Polling, or set " +
		strings.Join(keys, " or ") + " of the policy"
}

// watch searches the calls of a reply that has all its answers for completed rounds of a cycle, and follows
// the progress settings of its tools. The next prompt must have the answers already.
func (s *step) watch(b *Batch) {
	var worst reached
	for _, w := range s.watched(b) {
		if now := s.finished(w); now.at > worst.at {
			worst = now
		}
	}
	switch worst.at {
	case reachedNudge:
		if s.inner.Exhausted == nil {
			s.nudge(worst.cycle, worst.limit)
		}
	case reachedPlanner, reachedStop:
		s.stuck(worst)
	}
}

// watchedCall is a call of a reply as the search for cycles sees it, or a reply that counts as one call.
type watchedCall struct {
	*BatchCall
	// same is that of [finishedCall], and others that of [CycleCall].
	same   string
	others int
}

// watched returns the calls of a reply that count for cycles. Equal calls count once, because the model had
// not seen the first result when it made the second call. More calls than a cycle may have count as one.
func (s *step) watched(b *Batch) (all []watchedCall) {
	for _, c := range b.Calls {
		if c.Twin > 0 {
			continue
		}
		switch c.Status {
		case callAnswered, callRepeated, callFailed, callRefused, callLost, callDenied:
		default:
			continue
		}
		w := watchedCall{BatchCall: c, same: s.same(c)}
		if s.policyOf(c.Tool).Polling > 0 {
			if !s.isNews(c, w.same) {
				continue // neither repetition nor progress
			}
			w.same = ""
		}
		equal := func(o watchedCall) bool { return w.same != "" && o.same == w.same }
		if !slices.ContainsFunc(all, equal) {
			all = append(all, w)
		}
	}
	if len(all) > maxPeriod {
		return []watchedCall{s.together(all)}
	}
	return all
}

// together returns one call that stands for all calls of a reply: the one whose tool ends a run soonest.
// Their order does not count. If one of them equals no other call, the result equals none.
func (s *step) together(all []watchedCall) watchedCall {
	one, same := all[0], make([]string, len(all))
	for n, w := range all {
		now, soonest := s.progressOf(w.Tool, w.ReadOnly).Stop, s.progressOf(one.Tool, one.ReadOnly).Stop
		if same[n] = w.same; sooner(now, soonest) {
			one = w
		}
	}
	slices.Sort(same)
	if one.same, one.others = "", len(all)-1; same[0] != "" {
		one.same = digest([]byte(strings.Join(same, "")), signatureLen)
	}
	return one
}

// progressOf returns the settings for calls of a tool.
func (s *step) progressOf(tool string, readOnly bool) policy.Progress {
	return s.policyOf(tool).Progress.For(readOnly)
}

// same returns the digest of a call and its answer. A string is the same where the model gets its text and
// where it gets its JSON: see [step.told].
func (s *step) same(c *BatchCall) string {
	status, answer := c.Status, c.Answer
	if status == callRepeated {
		status, answer = callAnswered, s.made(c.Tool, c.exact()).Answer
	}
	if text, is := textIn(json.RawMessage(answer)); is {
		answer = text
	}
	return c.digest(status, answer, c.Parts)
}

// digest returns the digest of a call's tool and identity, and of an answer.
func (c *Call) digest(status callStatus, answer string, parts []message.Part) string {
	identity := c.exact()
	if len(c.Identity) > 0 {
		identity = c.Identity
	}
	text := appendPart(appendPart(make([]byte, 0, hashBufferSize), c.Tool), identity)
	text = appendPart(appendPart(text, string(status)), answer)
	for n := range parts {
		p := &parts[n]
		text = appendPart(appendPart(appendPart(text, p.Data), p.Text), p.URL)
	}
	return digest(text, signatureLen)
}

// level is what a completed round leads to, from nothing to the end of the run.
type level int

const (
	reachedNothing level = iota
	reachedNudge
	reachedPlanner
	reachedStop
)

// reached is a completed round of a cycle and what it leads to.
type reached struct {
	at    level
	cycle *Cycle
	// limit is the bound that was reached; for a nudge it is the bound at which the run stops.
	limit int
}

// finished adds a call to those that are searched. If it completes a round, finished returns what that leads
// to.
func (s *step) finished(w watchedCall) reached {
	f, window, all := finishedCall{Same: w.same}, s.progressOf(w.Tool, w.ReadOnly).Window, s.recent.Values()
	alike := func(o finishedCall) bool { return o.Same == f.Same }
	f.New = f.Same == "" || !slices.ContainsFunc(all[max(0, len(all)-window):], alike)
	repeats := false // true for every call of a completed round
	for p := 1; p <= maxPeriod; p++ {
		in := &s.inner.InStep[p-1]
		if n := len(all) - p; n < 0 || f.Same == "" || all[n].Same != f.Same {
			*in = 0
			continue
		}
		repeats = true
		if *in++; f.Period == 0 && *in >= p && *in%p == 0 {
			f.Period = p
		}
	}
	if f.Period > 0 {
		f.Rounds = s.rounds(&f, window)
	}
	s.recent = s.recent.Add(f, s.policies.window)
	if repeats {
		s.shownCalls = s.shownCalls.Add(w.shown(), maxPeriod)
	}
	if f.Period == 0 {
		return reached{}
	}
	return s.judge(f.Rounds, s.shownCalls.Values()[s.shownCalls.Len()-f.Period:])
}

func (w *watchedCall) shown() CycleCall {
	return CycleCall{
		Tool: w.Tool, ReadOnly: w.ReadOnly, Others: w.others,
		Arguments: feedback.Cut(string(w.Arguments), maxShownCall), Answer: feedback.Cut(w.Answer, maxShownCall),
	}
}

// rounds counts the rounds of the cycle that a call completes: those in a row, or one more than when the
// cycle was last completed, if that is in the window and only calls that had been made before came between.
func (s *step) rounds(f *finishedCall, window int) int {
	all := s.recent.Values()
	row := 1 + s.inner.InStep[f.Period-1]/f.Period
	for n := len(all) - 1; n >= max(0, len(all)+1-window) && !all[n].New; n-- {
		if o := &all[n]; o.Period == f.Period && (o.Same == f.Same || inCycle(all, f.Period, o.Same)) {
			return max(row, o.Rounds+1)
		}
	}
	return row
}

// inCycle reports whether a call is among those before the last one of the cycle that is being completed.
func inCycle(all []finishedCall, period int, same string) bool {
	return slices.ContainsFunc(all[len(all)+1-period:], func(c finishedCall) bool { return c.Same == same })
}

// firstSeen is the round at which a cycle is first seen.
const firstSeen = 2

// judge returns what a completed round of the calls leads to.
func (s *step) judge(rounds int, calls []CycleCall) reached {
	p := s.boundsOf(calls)
	r := reached{}
	switch {
	case isReached(rounds, p.Stop):
		r.at, r.limit = reachedStop, p.Stop
	case s.Config.Planner && isReached(rounds, p.Planner) && rounds == max(p.Planner, firstSeen):
		r.at, r.limit = reachedPlanner, p.Planner
	case isNudged(rounds, &p):
		r.at, r.limit = reachedNudge, p.Stop
	default:
		return r
	}
	r.cycle = &Cycle{Rounds: rounds, Calls: slices.Clone(calls)}
	return r
}

// boundsOf returns the bounds of a cycle: of several tools the smallest count.
func (s *step) boundsOf(calls []CycleCall) policy.Progress {
	p := policy.Progress{Nudge: policy.Unlimited, Planner: policy.Unlimited, Stop: policy.Unlimited}
	for n := range calls {
		own := s.progressOf(calls[n].Tool, calls[n].ReadOnly)
		p.Nudge, p.Planner = tighter(p.Nudge, own.Nudge), tighter(p.Planner, own.Planner)
		p.Stop = tighter(p.Stop, own.Stop)
	}
	return p
}

// isNudged reports whether the model is told of a round.
func isNudged(round int, p *policy.Progress) bool {
	return isReached(round, p.Nudge) && round%p.Nudge == 0
}

// isReached reports whether a round is at or above a bound.
func isReached(round, bound int) bool { return bound != policy.Unlimited && round >= bound }

// sooner reports whether the first of two bounds is the smaller one.
func sooner(a, b int) bool { return a != policy.Unlimited && (b == policy.Unlimited || a < b) }

// tighter returns the smaller of two bounds.
func tighter(a, b int) int {
	if sooner(b, a) {
		return b
	}
	return a
}

// repeatOn goes on with a cycle at which the planner was asked. The model is nudged as it would be without a
// planner.
func (s *step) repeatOn() error {
	c := s.inner.Exhausted.Cycle
	s.inner.Exhausted = nil
	if p := s.boundsOf(c.Calls); isNudged(c.Rounds, &p) {
		s.nudge(c, p.Stop)
	}
	return s.proceed(s.inner.Next)
}

// nudge tells the model what it repeats.
func (s *step) nudge(c *Cycle, stop int) {
	tool := c.Calls[len(c.Calls)-1].Tool
	if !s.policyOf(tool).EmitFeedback {
		return
	}
	s.inner.Nudge = s.addFeedback(feedback.Input{
		Tool: tool, Attempt: c.Rounds, MaxAttempts: stop, Class: fault.NoProgress, Scheduled: true, At: s.At,
		Detail: c.String(), CorrelationID: s.Session.ID(),
	})
	s.do(Decided).Decision = &Decision{
		Position: Position{Action: tool, Attempt: c.Rounds, MaxAttempts: stop}, Plane: fault.Correction,
		Decision: policy.Decision{Retry: true, Reason: policy.ReasonNudged}, Feedback: s.inner.Nudge, Cycle: c,
	}
	s.say(s.nudgeOf(s.inner.Nudge))
}

func (s *step) nudgeOf(fb *feedback.RetryFeedback) message.Message {
	texts, _ := s.renderFeedback(s.Config.Limits, prompt.Item{Feedback: fb})
	return message.Message{Role: message.User, Text: texts[0]}
}

// WithoutNudges returns the messages that a step has added to the transcript, without its nudges. st is the
// state after the step, and effects are the step's.
func (st State) WithoutNudges(said []message.Message, effects []Effect) []message.Message {
	s := step{State: &st}
	for _, e := range effects {
		if e.Decision == nil || e.Decision.Reason != policy.ReasonNudged {
			continue
		}
		text := s.nudgeOf(e.Decision.Feedback).Text
		n := slices.IndexFunc(said, func(m message.Message) bool { return m.Role == message.User && m.Text == text })
		if n >= 0 {
			said = slices.Concat(said[:n], said[n+1:])
		}
	}
	return said
}

// stuck asks the planner about a cycle, or ends the run.
func (s *step) stuck(r reached) {
	if s.inner.Exhausted != nil {
		return // the first counts
	}
	tool := r.cycle.Calls[len(r.cycle.Calls)-1].Tool
	d := &Decision{
		Position: Position{Action: tool, Attempt: r.cycle.Rounds, MaxAttempts: r.limit}, Plane: fault.Correction,
		Class: fault.NoProgress, Cycle: r.cycle,
		Decision: policy.Decision{Reason: policy.ReasonNoProgress,
			Detail: policy.Detail{Count: r.cycle.Rounds, Limit: r.limit}},
	}
	f := fault.Failure{
		Plane: fault.Correction, Class: fault.NoProgress, Tool: tool,
		Message: fmt.Sprintf("%s, %d times; %s", r.cycle, r.cycle.Rounds, r.cycle.waits()),
	}
	if r.at == reachedPlanner {
		d.Retry = true
		s.inner.Exhausted = &Question{Position: d.Position, Plane: d.Plane, Decision: d.Decision, Failure: f,
			Cycle: r.cycle}
		return
	}
	s.recordDecision(d, nil)
	s.exhaust(d, f)
}

// startOver forgets the calls so far, so that a cycle counts from its first round again.
func (s *step) startOver() {
	s.recent, s.inner.InStep, s.shownCalls = seq.Window[finishedCall]{}, [maxPeriod]int{}, seq.Window[CycleCall]{}
}
