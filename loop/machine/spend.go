package machine

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// projected is what a model call may cost, as it is known before the call.
type projected struct {
	// Usage is the whole prompt, and the largest reply as its output.
	Usage message.Usage `json:"usage"`
	// Cost is in the unit of a [policy.Price].
	Cost int64 `json:"cost_micros,omitempty"`
	// By is the budget that bounds the reply, with what was left of it; zero if none does.
	By policy.Detail `json:"by,omitzero"`
}

// promptSize is the size of the last prompt that is known, with the reply to it.
type promptSize struct {
	// Messages is the number of messages of the transcript up to the reply. Model is the model that replied.
	Messages int    `json:"messages"`
	Model    string `json:"model,omitempty" redact:"keep"`
	// Usage is what the reply reported, but only the reasoning that is not in the next prompt.
	Usage message.Usage `json:"usage"`
}

// estimate is how many tokens the messages after a [promptSize] have.
type estimate struct {
	// Messages is the number of messages of the transcript.
	Messages int   `json:"messages"`
	Tokens   int64 `json:"tokens"`
}

// The estimate of package machine: one token for each three bytes of text, four for each message, forty for
// what a provider adds to a prompt, and a thousand for each medium.
const (
	bytesAToken    = 3
	tokensAMessage = 4
	tokensAPrompt  = 40
	tokensAPart    = 1000
)

// EstimateTokens estimates the tokens of messages that are added to a prompt. Runs without an estimate
// function of their own use it. It estimates high: providers count three to five bytes of text as one token.
// What a provider adds to a first prompt is not in it: xAI, and Anthropic where there are tools, add hundreds
// of tokens.
func EstimateTokens(added []message.Message) (tokens int64) {
	for n := range added {
		m := &added[n]
		size := len(m.Text) + len(m.Name) + len(m.CallID) + len(m.Opaque)
		for _, c := range m.Calls {
			size += len(c.ID) + len(c.Name) + len(c.Arguments)
		}
		tokens += tokensAMessage + int64((size+bytesAToken-1)/bytesAToken) + tokensAPart*int64(len(m.Parts))
	}
	return tokens
}

// Added returns what is not in the last prompt whose size is known, for an estimate: the messages after it,
// or the system prompt and all messages that the prompt shows. The slice is read-only.
func (st *State) Added() []message.Message {
	if st.Prompt != nil {
		return st.transcript.From(st.Prompt.Messages)
	}
	said := st.Shown()
	if st.System == "" {
		return said
	}
	return slices.Insert(slices.Clone(said), 0, message.Message{Role: message.System, Text: st.System})
}

// EstimateAdded returns the answer to an estimate effect where the user has no function for it: see
// [EstimateTokens]. The first prompt of a run has the tools and the schema of the answer, too.
func (st *State) EstimateAdded() int64 {
	added := EstimateTokens(st.Added())
	if st.Prompt == nil {
		added += tokensAPrompt + st.Config.Offered/bytesAToken
	}
	return added
}

// asksEstimate asks for an estimate of the call, if the run records estimates and needs it.
func (s *step) asksEstimate(call *ModelCall) bool {
	held := s.inner.Estimate
	if !s.Config.Estimates || !s.projects(call.Model) || held != nil && held.Messages == call.Messages {
		return false
	}
	s.Phase, s.System = Estimating, call.System
	s.do(EstimateCall).Model = call
	return true
}

// projects reports whether something is decided by the projected size of a call.
func (s *step) projects(model string) bool {
	price, _, _ := s.priceOf(model)
	return !s.Policy.Spending.IsZero() || price.ContextWindow != nil
}

// estimated takes an estimate.
func (s *step) estimated() error {
	s.inner.Estimate = &estimate{Messages: s.transcript.Len(), Tokens: max(s.ev.Tokens, 0)}
	return s.callModel()
}

// prompt returns the projected usage of a call's prompt: what the last one was, and what was added since.
func (s *step) prompt(call *ModelCall) (u message.Usage) {
	var added int64
	if e := s.inner.Estimate; e != nil && e.Messages == call.Messages {
		added = e.Tokens
	} else {
		added = s.EstimateAdded()
	}
	last := s.Prompt
	if last == nil {
		return message.Usage{InputTokens: added, APICalls: 1}
	}
	was := last.Usage
	u = message.Usage{InputTokens: was.InputTokens, APICalls: 1}.Add(message.Usage{
		InputTokens: max(was.OutputTokens-was.ReasoningTokens, 0)}).Add(message.Usage{InputTokens: added})
	if last.Model != call.Model {
		return u
	}
	u.CacheReadTokens = min(was.CacheReadTokens, u.InputTokens)
	if was.CacheWriteTokens > 0 {
		u.CacheWriteTokens = u.InputTokens - u.CacheReadTokens
	}
	return u
}

// priceOf returns the price of a model of the run, and its name in the table.
func (s *step) priceOf(model string) (price policy.Price, name string, known bool) {
	name = cmp.Or(s.Config.Models[model].Name, model)
	price, known = s.Policy.Prices.Of(name)
	return price, name, known
}

// spent returns what was spent so far of each allowance.
func (s *step) spent() policy.Spent {
	spent := policy.Spent{Run: s.Charged, Session: s.Session.Charged()}
	for n := range s.Actions {
		spent.Actions = append(spent.Actions, s.Actions[n].Charged)
	}
	if early := s.inner.Early; early != nil && len(s.Actions) == 0 {
		spent.Actions = []policy.Charge{*early}
	}
	return spent
}

// afford projects a call and bounds its reply by what is left. If the call does not fit, the run ends.
func (s *step) afford(call *ModelCall) bool {
	limits := &s.Policy.Spending
	if limits.IsZero() {
		return true
	}
	price, name, known := s.priceOf(call.Model)
	if limits.Costs() && !known {
		s.unaffordable(policy.ReasonCostBudget, policy.Detail{Budget: "prices", Model: name})
		return false
	}
	p := projected{Usage: s.prompt(call)}
	why, most, by := limits.Fits(s.spent(), p.Usage, price)
	if why.Reason != "" {
		s.unaffordable(why.Reason, why.Detail)
		return false
	}
	if w := price.ContextWindow; w != nil && most > max(*w-p.Usage.InputTokens, policy.LeastReply) {
		most, by = max(*w-p.Usage.InputTokens, policy.LeastReply), policy.Detail{} // more would be refused
	}
	info := s.Config.Models[call.Model]
	own := info.MaxOutputTokens
	if n, known := s.Session.MaxReply(name); known { // the config of the model may allow more
		call.MaxOutputTokens, own = n, n
	}
	if most >= 0 && (own <= 0 || most < own) && !info.Unbounded {
		call.MaxOutputTokens, own, p.By = most, most, by
	}
	p.Usage.OutputTokens = cmp.Or(own, policy.LeastReply)
	p.Cost = price.Cost(p.Usage).Micros()
	s.inner.Projection, call.Projection = &p, &p
	return true
}

// askedTooMuch reports that a model refused a call because it cannot write as many tokens as were asked for,
// and notes how many it can.
func (s *step) askedTooMuch(f *fault.Failure) bool {
	p := s.inner.Projection
	if p == nil || f.MaxReply <= 0 || f.MaxReply >= p.Usage.OutputTokens {
		return false
	}
	_, name, _ := s.priceOf(s.model())
	s.Session = s.Session.WithMaxReply(name, f.MaxReply)
	return true
}

// unaffordable ends the run before a call that does not fit.
func (s *step) unaffordable(why policy.Reason, d policy.Detail) {
	if s.inner.Transport <= 1 {
		s.Turn-- // there is no such reply
	}
	s.stop(Outcome{Reason: why, Detail: d})
}

// chargeReply counts what a reply cost. One without usage is charged what was projected.
func (s *step) chargeReply(m *message.Reply) {
	if !s.Policy.Meters() && !s.Config.Limited {
		return
	}
	asked := s.model()
	if m.Usage.InputTokens > 0 {
		s.Prompt = &promptSize{Messages: s.transcript.Len(), Model: asked, Usage: message.Usage{}.Add(m.Usage)}
		if m.PromptTokens > 0 {
			s.Prompt.Usage.InputTokens = m.PromptTokens
		}
	}
	if !s.Policy.Meters() {
		return
	}
	if m.Usage.Total() == 0 {
		s.chargeProjection()
		return
	}
	price, known := s.Policy.Prices.Of(m.Model)
	if !known {
		var name string
		if price, name, known = s.priceOf(asked); !known && len(s.Policy.Prices) > 0 {
			s.warn("the price table has no model " + strconv.Quote(fault.Scrub(cmp.Or(name, m.Model))) +
				": its tokens are not in the cost")
		}
	}
	s.pay(policy.Charge{Usage: m.Usage, Cost: price.Cost(m.Usage).Micros()})
}

// measured notes that the transcript has the reply, whose tokens are known if those of its prompt are.
// Thoughts that the provider wants back are part of the next prompt, and others are not.
func (s *step) measured() {
	p, m := s.Prompt, &s.ev.Reply.Message
	if p == nil || m.Usage.InputTokens <= 0 {
		return
	}
	if p.Messages = s.transcript.Len(); m.Opaque != "" {
		p.Usage.ReasoningTokens = 0
	}
}

// chargeProjection charges a call without usage what was projected.
func (s *step) chargeProjection() {
	if p := s.inner.Projection; p != nil {
		s.pay(policy.Charge{Usage: p.Usage, Cost: p.Cost, Estimated: 1})
	}
}

// pay counts a charge of the run and the session.
func (s *step) pay(c policy.Charge) {
	s.warnsPassed(func() {
		s.paid = s.paid.Plus(c)
		s.Charged = s.Charged.Plus(c)
		s.Owed = s.Owed.Plus(policy.Charge{Cost: c.Cost, Estimated: c.Estimated})
		s.Session = s.Session.AddCharge(c)
	})
}

// payFor counts a charge of an action.
func (s *step) payFor(a *action, c policy.Charge) {
	if c != (policy.Charge{}) {
		s.warnsPassed(func() { a.Charged = a.Charged.Plus(c) })
	}
}

// warnsPassed makes a charge, and warns if it is the first to pass a budget.
func (s *step) warnsPassed(charge func()) {
	limits := &s.Policy.Spending
	before := s.spent()
	charge()
	if after := limits.Passed(s.spent()); after.Budget != "" && limits.Passed(before).Budget == "" {
		s.warn("spending: " + after.Spending())
	}
}

// chargeFailed charges a call that failed, unless the provider refused it before a model worked on it.
func (s *step) chargeFailed(f *fault.Failure) {
	if s.Policy.Meters() && !refusedBefore[f.Class] {
		s.chargeProjection()
		s.payForAll()
	}
}

// payForAll counts what a call without a usable reply cost for the actions that are being corrected, or else
// for those that the next reply begins.
func (s *step) payForAll() {
	if len(s.Actions) == 0 {
		s.warnsPassed(func() { s.inner.Early = new(s.paid) })
	}
	for n := range s.Actions {
		s.payFor(&s.Actions[n], s.paid)
	}
}

// refusedBefore are the classes of calls that a provider refuses before a model works on them, or that never
// reach it.
var refusedBefore = map[fault.Class]bool{
	fault.RateLimit: true, fault.Overloaded: true, fault.Auth: true, fault.Permission: true, fault.Billing: true,
	fault.Quota: true, fault.ModelNotFound: true, fault.ContextLength: true, fault.InvalidRequest: true,
	fault.ProviderNotConfigured: true, fault.ProviderNotSupported: true, fault.Config: true,
}

// chargeOther counts what calls of other models cost: those of a tool's runs, and that of a summary. If cost
// is nil, they have the price of the run's model.
func (s *step) chargeOther(u message.Usage, cost *int64) (c policy.Charge) {
	if !s.Policy.Meters() || u.Total() == 0 && cost == nil {
		return c
	}
	if c.Usage = u; cost != nil {
		c.Cost = *cost
	} else {
		price, _, _ := s.priceOf(s.model())
		c.Cost, c.Estimated = price.Cost(u).Micros(), max(u.APICalls, 1)
	}
	s.pay(c)
	return c
}

// useLeft counts what the model call or try under way had consumed when it was left.
func (s *step) useLeft() {
	u := s.ev.Usage
	s.use(u)
	switch {
	case s.Phase != Calling:
		s.chargeOther(u, nil)
	case s.ev.Left:
		s.chargeProjection()
	default: // a reply that the run did not take has its price
		price, _, _ := s.priceOf(s.model())
		s.chargeOther(u, new(price.Cost(u).Micros()))
	}
	s.payForAll()
}

// chargeTool counts what the runs of a tool's call cost.
func (s *step) chargeTool(end *ToolEnd) {
	c := s.chargeOther(end.Usage, end.Cost)
	if a := s.find(s.Batch.Calls[end.Index].Tool); a != nil {
		s.payFor(a, c)
	}
}

// cost returns what the runs of the call cost, as far as they know it.
func (end *ToolEnd) cost() int64 {
	if end.Cost == nil {
		return 0
	}
	return *end.Cost
}

// beginAttempt counts one more attempt of an action, with what the reply that made it cost.
func (s *step) beginAttempt(name string) {
	a := s.open(name)
	a.Attempt++
	s.inner.Early = nil
	s.payFor(a, s.paid)
}

// cutByBudget makes a budget the reason to stop after a reply that was cut off at what the budget had left.
func (s *step) cutByBudget(d *Decision) {
	if p := s.inner.Projection; p != nil && p.By.Budget != "" && d.Class == fault.Truncated && !d.Retry &&
		d.Reason == policy.ReasonNotRetryable {
		d.Reason, d.Detail = policy.ReasonTokenBudget, p.By
		if p.By.Money() {
			d.Reason = policy.ReasonCostBudget
		}
	}
}

// use counts the usage of a reply, a try or a tool call.
func (s *step) use(u message.Usage) {
	s.Usage, s.Owed = s.Usage.Add(u), s.Owed.Plus(policy.Charge{Usage: u})
}

// rest is what a run has left when the calls of a reply are made, for the runs within them. It is taken once
// for all calls, because they begin at different times, and at others after a crash.
type rest struct {
	// Sharers is the number of calls to run. Failed is the number of failed attempts in the run.
	Sharers int64 `json:"sharers"`
	Failed  int   `json:"failed,omitempty"`
	// Spent is what was spent, or nil if nothing bounds it. Its actions are those of the reply's tools, in
	// the order of each tool's first call.
	Spent *policy.Spent `json:"spent,omitempty"`
}

// keepRest notes what is left for the calls of the batch, if there is one.
func (s *step) keepRest() {
	if s.Batch == nil {
		return
	}
	b := s.Batch
	r := rest{Sharers: int64(b.unfinished()), Failed: s.Failed.Run}
	if !s.Policy.Spending.IsZero() {
		r.Spent = &policy.Spent{Run: s.Charged, Session: s.Session.Charged()}
		for _, tool := range b.tools() {
			var spent policy.Charge
			if a := s.find(tool); a != nil {
				spent = a.Charged
			}
			r.Spent.Actions = append(r.Spent.Actions, spent)
		}
	}
	b.Rest = &r
}

// Bound returns the policy for a run within a call of the batch: its own, bounded by a share of what this run
// had left when the calls of the reply were made, or when a plan or a person's answer made the budgets begin
// anew. The calls to run divide it. It stays the same until the batch ends, also after a crash.
func (st *State) Bound(call int, own policy.Set) policy.Set {
	r := st.Batch.Rest
	if r == nil {
		r = &rest{Sharers: 1}
	}
	var spent policy.Spent
	if r.Spent != nil {
		spent.Run, spent.Session = r.Spent.Run, r.Spent.Session
		all, at := r.Spent.Actions, slices.Index(st.Batch.tools(), st.Batch.Calls[call].Tool)
		if at < len(all) {
			spent.Actions = all[at : at+1]
		}
	}
	return own.Within(st.Policy, spent, r.Failed, r.Sharers)
}
