package machine

import (
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// shortenRun asks for a shorter prompt.
type shortenRun struct {
	// Percent is the largest new size, as a share of the present one. Goal is the largest new size in bytes;
	// 0 if unknown.
	Percent int `json:"percent,omitempty"`
	Goal    int `json:"goal,omitempty"`
	// Summaries says what the step summarise does.
	Summaries summaryUse `json:"summaries,omitempty"`
	// Freed is the number of bytes that were cut already.
	Freed int `json:"freed,omitempty"`
	// Tokens is the projected size of the prompt, and Window the context window of the model, in tokens; 0 if
	// unknown.
	Tokens int64 `json:"tokens,omitempty"`
	Window int64 `json:"window,omitempty"`
}

// summaryUse is what the step summarise of a policy does.
type summaryUse string

// The uses. The zero value leaves the step out, because a summary was just made.
const (
	askSummary summaryUse = "ask"
	// windowInstead leaves the oldest turns out, because nobody makes summaries, or one failed.
	windowInstead summaryUse = "window"
)

// SummaryRun asks for a summary of messages of the transcript.
type SummaryRun struct {
	projection.Span
	shortened
}

// shortened is how far the prompt is that a summary makes shorter, as in [shortenRun].
type shortened struct {
	Goal   int   `json:"goal"`
	Freed  int   `json:"freed,omitempty"`
	Tokens int64 `json:"tokens,omitempty"`
}

// Shown returns the messages of the next model call: the transcript with its cuts. The slice is read-only.
func (st State) Shown() []message.Message { return projection.Apply(st.Transcript(), st.Cuts) }

// Span returns messages of the transcript as prompts show them.
func (st State) Span(of projection.Span) []message.Message {
	return projection.ApplyTo(st.Transcript(), st.Cuts, of)
}

// keepTurn records what became of a reply and its answers, which are the messages from index start on.
func (s *step) keepTurn(start int, t projection.Turn) {
	if t.From, t.To = start, s.transcript.Len(); t.To > t.From {
		s.turns = s.turns.Append(t)
	}
}

// PlanCuts plans what prompts leave out from now on: the answer to a shorten effect. It is a pure function of
// the state.
func (st State) PlanCuts() projection.CutPlan {
	asked := st.inner.Shorten
	in := st.cutInput(asked.Goal)
	if in.Goal == 0 {
		in.Goal = int(percentOf(int64(projection.Bytes(st.Shown())), asked.Percent))
	}
	if n := slices.Index(in.Steps, policy.Summarise); n >= 0 {
		switch in.Steps = slices.Clone(in.Steps); asked.Summaries {
		case windowInstead:
			in.Steps[n] = policy.Window
		case "":
			in.Steps = slices.Delete(in.Steps, n, n+1)
		}
	}
	return projection.Plan(in)
}

// PlanSummary plans which messages a summary replaces: a part of the answer to a summarise effect.
func (st State) PlanSummary(text string) projection.CutPlan {
	asked := st.inner.Summary
	return projection.Summary(st.cutInput(asked.Goal), asked.Span, text)
}

// cutInput returns what cuts are planned from.
func (st *State) cutInput(goal int) projection.Input {
	return projection.Input{
		Said: st.Transcript(), Turns: st.turns.From(0), Cuts: st.Cuts, Goal: goal,
		Own:   projection.Span{From: max(st.Began-1, 0), To: st.Began},
		Steps: st.Policy.Context.Order(), Keep: st.Policy.Context.Newest(),
	}
}

// tooLong asks for a shorter prompt after a model call failed because its prompt was too long.
func (s *step) tooLong(f *fault.Failure) bool {
	if f.Class != fault.ContextLength || len(s.Policy.Context.Order()) == 0 {
		return false
	}
	from, to := s.Policy.Context.Shares()
	s.inner.Tight = f
	s.shorten(shortenRun{Percent: 100 * to / from, Summaries: s.summaries()})
	return true
}

// tooFull asks for a shorter prompt before a call that would fill too much of its model's window. After a
// plan that freed nothing it asks again only after as many turns as the policy always keeps.
func (s *step) tooFull(call *ModelCall) bool {
	rules := s.Policy.Context
	price, _, _ := s.priceOf(call.Model)
	if price.ContextWindow == nil || len(rules.Order()) == 0 || s.inner.Transport > 1 ||
		s.inner.Full > 0 && s.Turn < s.inner.Full+rules.Newest() {
		return false
	}
	from, to := rules.Shares()
	window, tokens := *price.ContextWindow, s.prompt(call).InputTokens
	if tokens < percentOf(window, from) {
		return false
	}
	s.shorten(shortenRun{Percent: max(int(percentOf(window, to)/max(percentOf(tokens, 1), 1)), 1),
		Summaries: s.summaries(), Tokens: tokens,
		Window: window})
	return true
}

func (s *step) summaries() summaryUse {
	if s.Config.Summaries {
		return askSummary
	}
	return windowInstead
}

func (s *step) shorten(r shortenRun) {
	s.Phase, s.inner.Shorten = Shortening, &r
	s.do(Shorten).Shorten = &r
}

// shortened adds the cuts of a plan and makes the call, or asks for a summary first. A call that failed
// because its prompt was too long is made again only if the prompt is shorter now, and costs no attempt.
func (s *step) shortened() error {
	asked, cut := s.inner.Shorten, s.ev.Cut
	s.inner.Shorten = nil
	if err := s.cut(cut); err != nil {
		return err
	}
	freed := asked.Freed + cut.Freed
	s.remeasure(asked.Tokens, cut)
	if f := s.inner.Tight; f != nil && freed == 0 && cut.Summarise == nil {
		s.inner.Tight = nil
		full := policy.Decision{Reason: policy.ReasonContextFull}
		s.exhaust(s.recordTransport(s.requestPosition(), *f, full, FailedAttempts{}), *f)
		return s.proceed(thenCall)
	}
	if cut.Summarise != nil {
		s.Phase, s.inner.Summary = Summarising, &SummaryRun{*cut.Summarise, shortened{cut.Goal, freed, asked.Tokens}}
		s.do(Summarise).Summary = s.inner.Summary
		return nil
	}
	if s.inner.Full = 0; freed == 0 {
		s.inner.Full = s.Turn
	}
	return s.callShorter()
}

// remeasure reduces the projected size of a prompt by the share that was cut.
func (s *step) remeasure(tokens int64, cut *projection.CutPlan) {
	if tokens > 0 && cut.Freed > 0 {
		left := percentOf(tokens, int(100*int64(cut.Size)/(int64(cut.Size)+int64(cut.Freed))))
		s.inner.Estimate = nil
		s.Prompt = &promptSize{Messages: s.transcript.Len(), Model: s.model(),
			Usage: message.Usage{InputTokens: left}}
	}
}

// percentOf returns percent of n, without overflow.
func percentOf(n int64, percent int) int64 { return n/100*int64(percent) + n%100*int64(percent)/100 }

// callShorter makes the call whose prompt was made shorter.
func (s *step) callShorter() error {
	if f := s.inner.Tight; f != nil {
		s.inner.Tight = nil
		return s.makeAgain(f, policy.ReasonShortened)
	}
	return s.makeNext()
}

// makeAgain makes a call again that a provider refused, now that it may fit. It costs no attempt.
func (s *step) makeAgain(f *fault.Failure, why policy.Reason) error {
	s.recordTransport(s.requestPosition(), *f, policy.Decision{Retry: true, Reason: why}, FailedAttempts{})
	return s.makeNext()
}

// makeNext makes the next model call. What the user has said meanwhile is estimated first.
func (s *step) makeNext() error {
	known := s.transcript.Len()
	call, err := s.nextCall()
	if err == nil && (call.Messages == known || !s.asksEstimate(call)) {
		s.makeCall(call)
	}
	return err
}

// summarised adds a summary's cut and goes on with the other steps.
func (s *step) summarised() error {
	was, f := s.inner.Summary, s.ev.Failure
	next := shortenRun{Goal: was.Goal, Freed: was.Freed, Tokens: was.Tokens}
	s.inner.Summary = nil
	s.use(s.ev.Summary.Usage)
	s.chargeOther(s.ev.Summary.Usage, nil)
	switch {
	case f != nil:
		next.Summaries = windowInstead
		s.warn("a summary failed, and older messages are left out without one: " + textOfFailure(f))
	case s.ev.Cut.Freed <= 0:
		next.Summaries = windowInstead
		s.warn("a summary is no shorter than what it sums up, and older messages are left out without it")
	default:
		if err := s.cut(s.ev.Cut); err != nil {
			return err
		}
		next.Freed += s.ev.Cut.Freed
		if s.remeasure(next.Tokens, s.ev.Cut); s.Prompt != nil && next.Tokens > 0 {
			next.Tokens = s.Prompt.Usage.InputTokens
		}
	}
	s.shorten(next)
	return nil
}

// cut adds the new cuts of a plan.
func (s *step) cut(made *projection.CutPlan) error {
	if len(made.Cuts) == 0 {
		return nil
	}
	s.Cuts = projection.Cover(s.Cuts, made.Cuts)
	if kept := s.Kept(); !kept.Fits(s.transcript.Len()) {
		return s.eventError("its cuts do not fit the transcript")
	}
	return nil
}
