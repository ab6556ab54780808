package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

func ask(t *testing.T, text []byte, w journal.WhatIf) journal.Outlook {
	t.Helper()
	out, err := w.Run(bytes.NewReader(text))
	require.NoError(t, err)
	return out
}

// first returns the answer for a journal of one run under another policy.
func first(t *testing.T, name, text string) journal.RunOutlook {
	t.Helper()
	out := ask(t, kept(t, name), journal.WhatIf{Policy: policyOf(t, text)})
	require.NotEmpty(t, out.Runs)
	return out.Runs[0]
}

// With an unchanged policy every run has the same end and cost.
func TestWhatIfNothingWereDifferent(t *testing.T) {
	for name := range stories(t) {
		if name == "compacted" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			out := ask(t, kept(t, name), journal.WhatIf{})
			require.NotEmpty(t, out.Runs)
			for _, r := range out.Runs {
				assert.Nil(t, r.Silent)
				assert.Nil(t, r.First)
				assert.Equal(t, r.RecordedEnd, r.End)
				assert.Equal(t, r.Recorded, r.WhatIf)
				assert.Empty(t, r.Warnings)
			}
			assert.Zero(t, out.Change())
			assert.Equal(t, theSession, out.Session)
		})
	}
}

// What the model is told of a cycle is no attempt.
func TestANudgeCountsAsNoAttempt(t *testing.T) {
	look, err := tool.NewSet(tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) { return "same", nil }))
	require.NoError(t, err)
	st := story{act: func(t *testing.T, s *session.Session, j *journal.Journal) {
		model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			return message.Reply{Calls: []message.Call{{ID: "c", Name: "look", Arguments: "{}"}}}, nil
		})
		_, err := fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Look."}, loop.Config{Tools: look})
		require.ErrorIs(t, err, policy.ReasonNoProgress)
	}}
	r := ask(t, st.record(t), journal.WhatIf{}).Runs[0]
	assert.Equal(t, 10+1, r.Recorded.Correction, "ten calls, and the stop")
	assert.Equal(t, r.Recorded, r.WhatIf)
}

// A nudge at another round, or none, is other words for the model, and it is assumed to reply the same. In a
// journal that leaves texts out, too.
func TestANudgeAtAnotherRoundIsAskedAbout(t *testing.T) {
	look, err := tool.NewSet(tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) { return "same", nil }))
	require.NoError(t, err)
	for name, text := range map[string]bool{"native calls": false, "calls in texts": true} {
		for kept, redact := range map[string]*journal.Redaction{"all": nil, "redacted": {Prompts: true, Replies: true}} {
			t.Run(name+", "+kept, func(t *testing.T) {
				st := story{settings: journal.Settings{Redact: redact}, act: func(t *testing.T, s *session.Session, j *journal.Journal) {
					asked := 0
					model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
						switch asked++; {
						case asked > 6:
							return message.Reply{Text: "I give up."}, nil
						case text:
							return message.Reply{Text: `<tool_call>{"name": "look", "arguments": {}}</tool_call>`}, nil
						}
						return message.Reply{Calls: []message.Call{{ID: "c", Name: "look", Arguments: "{}"}}}, nil
					})
					p := policy.DefaultSet()
					p.Global.Progress = &policy.Progress{Nudge: 4, Planner: policy.Unlimited, Stop: 10}
					_, err := fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Look."}, loop.Config{Tools: look, Policy: &p})
					require.NoError(t, err)
				}}
				record := st.record(t)
				for _, c := range []struct {
					nudge, stop int
					warned      bool
					end         string
				}{
					{4, 10, false, "I give up."}, {2, 10, true, "I give up."}, {5, 10, true, "I give up."},
					{policy.Unlimited, policy.Unlimited, true, "I give up."}, {2, 3, true, "no_progress"},
				} {
					p := policy.DefaultSet()
					p.Global.Progress = &policy.Progress{Nudge: c.nudge, Planner: policy.Unlimited, Stop: c.stop}
					r := ask(t, record, journal.WhatIf{Policy: &p}).Runs[0]
					require.Nil(t, r.Silent, "%v: %v", c, r.Silent)
					if redact == nil || c.stop == 3 {
						assert.Contains(t, r.End, c.end)
					}
					assert.Equal(t, c.warned, slices.Contains(r.Warnings, "the model would have been told elsewhere that it repeats itself, but is assumed to have replied the same"), "%v", c)
				}
			})
		}
	}
}

// Prices that a policy has make a run cost, and a budget ends it where what is left is too little.
func TestABudgetOfMoneyIsAskedAbout(t *testing.T) {
	empty := looptest.Say("")
	empty.Reply.Model, empty.Reply.Usage = "m-2030", message.Usage{InputTokens: 100, OutputTokens: 10, APICalls: 1}
	good := looptest.Say("Hello.")
	good.Reply.Model, good.Reply.Usage = "m-2030", message.Usage{InputTokens: 150, OutputTokens: 5, APICalls: 1}
	st := story{act: func(t *testing.T, s *session.Session, j *journal.Journal) {
		_, err := fixture.Run(t.Context(), looptest.NewModel(empty, good), fixture.In(s, j), loop.Input{Prompt: "Hi."}, loop.Config{})
		require.NoError(t, err)
	}}
	text := st.record(t)
	r := ask(t, text, journal.WhatIf{Policy: policyOf(t, "prices: {m: {input: 1000000, output: 2000000}}\n")}).Runs[0]
	assert.Zero(t, r.Recorded.Cost)
	assert.EqualValues(t, 120+160, r.WhatIf.Cost)
	assert.EqualValues(t, 120, r.WhatIf.Wasted.Cost)
	assert.EqualValues(t, 110, r.Recorded.Wasted.Usage.Total())
	assert.EqualValues(t, 280, r.Change().Cost)
	// A budget of money needs the name of the model, which a run without one does not record.
	bounded := policyOf(t, "prices: {m-2030: {input: 1000000, output: 2000000}}\nspending: {run: {cost: 9000}}\n")
	r = ask(t, text, journal.WhatIf{Policy: bounded}).Runs[0]
	require.NotNil(t, r.Silent)
	assert.Equal(t, "the record no longer answers: it would price its model; the record does not name it: say its name (-model)", r.Silent.String())
	r = ask(t, text, journal.WhatIf{Policy: bounded, Model: "m-2030"}).Runs[0]
	assert.EqualValues(t, 120+160, r.WhatIf.Cost)
	assert.True(t, r.SameEnd)
	r = ask(t, text, journal.WhatIf{Policy: policyOf(t, "spending: {run: {total_tokens: 200}}\n")}).Runs[0]
	assert.Contains(t, r.End, "stop (token_budget: run.total_tokens: 90 left, ")
	assert.Equal(t, -1, r.Change().ModelCalls)
	assert.EqualValues(t, -155, r.Change().Usage.Total())
}

// Grants are those of the record; a call that the record does not have is granted.
func TestARunWithALimiterIsAskedAbout(t *testing.T) {
	l, err := limiter.New(limiter.Config{})
	require.NoError(t, err)
	st := story{act: func(t *testing.T, s *session.Session, j *journal.Journal) {
		_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say(""), looptest.Say(""), looptest.Say("Hello.")),
			fixture.In(s, j), loop.Input{Prompt: "Hi."}, loop.Config{}, loop.WithLimiter(l), loop.WithClock(nil))
		require.NoError(t, err)
	}}
	text := st.record(t)
	require.Contains(t, string(text), `"kind":"granted"`)
	r := ask(t, text, journal.WhatIf{}).Runs[0]
	assert.Nil(t, r.Silent)
	assert.Equal(t, r.Recorded, r.WhatIf)
	assert.True(t, r.SameEnd)
	r = ask(t, text, journal.WhatIf{Policy: policyOf(t, "max_attempts: 2\n")}).Runs[0]
	assert.Nil(t, r.Silent)
	assert.Equal(t, -1, r.Change().ModelCalls)
}

func TestFewerAttemptsAreSaved(t *testing.T) {
	r := first(t, "corrected", "max_attempts: 2\nbackoff: {kind: constant, delay: 1s}\n")
	assert.Equal(t, "stop: book_room attempt 2 of 2: tool_validation (attempts_exhausted)", r.End)
	assert.Equal(t, "done: Booked.", r.RecordedEnd)
	assert.Equal(t, r.Recorded, r.Answered, "a run that ends is compared with the whole")
	change := r.Change()
	assert.Equal(t, -2, change.ModelCalls)
	assert.Equal(t, -2, change.Correction)
	assert.Equal(t, -1, change.ToolRuns)
	assert.Equal(t, message.Usage{InputTokens: -540, OutputTokens: -35, APICalls: -2}, change.Usage)
	assert.Equal(t, time.Second, r.WhatIf.Waited)
	assert.True(t, r.RecordedOK)
	assert.False(t, r.OK)
	assert.EqualValues(t, 355, r.Recorded.Wasted.Usage.Total())
	require.NotNil(t, r.First)
	assert.Equal(t, int64(4), r.First.Line)
	assert.Equal(t, []string{"book_room attempt 1 of 2: retry in 1s: backoff"}, r.First.Now)
}

// Ends are compared as they were decided: "attempt 1 of 3" and "attempt 1 of 6" may be one end.
func TestEndsAreComparedAsTheyWereDecided(t *testing.T) {
	refusal := looptest.Say("")
	refusal.Reply.Refusal = "I will not."
	text := recorded(journal.Settings{}, "Book.", refusal)
	r := ask(t, text, journal.WhatIf{Policy: policyOf(t, "max_attempts: 6\n")}).Runs[0]
	assert.NotEqual(t, r.RecordedEnd, r.End, "the sentence says of how many")
	assert.True(t, r.SameEnd)
	assert.Nil(t, r.First)
	assert.True(t, first(t, "corrected", "max_attempts: 5\n").SameEnd)
	assert.False(t, first(t, "corrected", "max_attempts: 2\n").SameEnd)
}

// A person's answer to an exhaustion is taken as it was given. Where it is not needed any more, the record
// has no reply without the person's words; where nobody was asked, it has no answer.
func TestAPersonsAnswerToAnExhaustionIsAskedAbout(t *testing.T) {
	const one, asking = "global: {max_attempts: 1}\n", "global: {max_attempts: 1, approval: {exhausted: ask}}\n"
	goOn := func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		return machine.Response{Verdict: machine.GoOn, Words: "Say something.", By: "Ann"}, nil
	}
	record := func(of string) []byte {
		return story{act: func(t *testing.T, s *session.Session, j *journal.Journal) {
			model := looptest.NewModel(looptest.Say(""), looptest.Say("Hello."))
			_, _ = fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Hi."},
				loop.Config{Policy: policyOf(t, of)}, loop.WithApprover(goOn))
		}}.record(t)
	}
	asked, ended := record(asking), record(one)
	same := ask(t, asked, journal.WhatIf{}).Runs[0]
	assert.Equal(t, "done: Hello.", same.RecordedEnd)
	assert.Equal(t, same.RecordedEnd, same.End)
	assert.Nil(t, same.First)

	more := ask(t, asked, journal.WhatIf{Policy: policyOf(t, "global: {max_attempts: 2}\n")}).Runs[0]
	require.NotNil(t, more.Silent, "the recorded reply is to the person's words")
	assert.Equal(t, "call the model, attempt 2 of 2", more.Silent.Asks)

	fewer := ask(t, asked, journal.WhatIf{Policy: policyOf(t, one)}).Runs[0]
	assert.Contains(t, fewer.End, "stop: attempt 1 of 1: ")
	assert.Equal(t, -1, fewer.Change().ModelCalls)

	unasked := ask(t, ended, journal.WhatIf{Policy: policyOf(t, asking)}).Runs[0]
	require.NotNil(t, unasked.Silent)
	assert.Contains(t, unasked.Silent.Asks, "ask a person: what is to follow: the answer gave up at attempt 1")
}

// An attempt without a recorded reply has no answer: only the costs before it are compared.
func TestTheRecordDoesNotAnswerForAttemptsThatWereNotMade(t *testing.T) {
	r := first(t, "exhausted", "max_attempts: 5\nbackoff: {kind: constant, delay: 2s}\n")
	require.NotNil(t, r.Silent)
	assert.Equal(t, "call the model, book_room attempt 3 of 5", r.Silent.Asks)
	assert.Empty(t, r.End)
	assert.Equal(t, r.Recorded, r.Answered)
	assert.Zero(t, r.Change().ModelCalls)
	assert.Equal(t, 4*time.Second, r.Change().Waited, "the waits that stand before the attempt are made")
}

func TestAPlannerThatIsNotAskedAnyMoreDoesNotAnswer(t *testing.T) {
	r := first(t, "planner", "max_attempts: 5\n")
	require.NotNil(t, r.Silent)
	assert.Equal(t, []any{int64(6), int64(3)}, []any{r.Silent.Line, r.Silent.Event})
	assert.Equal(t, "call the model, book_room attempt 2 of 5", r.Silent.Asks)
	assert.Equal(t, "the record says: the planner says fallback", r.Silent.Has)
	assert.Less(t, r.Answered.ModelCalls, r.Recorded.ModelCalls, "what came after is not compared")
	assert.Zero(t, r.Change())
}

func TestWaitsAreMadeAnewOnBothPlanes(t *testing.T) {
	r := first(t, "transport_wait", "transport: {backoff: {kind: constant, delay: 7s, jitter: none}, retry_after: floor}\n")
	assert.Nil(t, r.Silent)
	assert.Equal(t, 14*time.Second, r.WhatIf.Waited)
	assert.Equal(t, 2, r.Recorded.Transport)
	assert.Equal(t, r.Recorded.Transport, r.WhatIf.Transport)
	assert.Equal(t, 2*r.Recorded.Transport, r.Plus(r.Comparison).Recorded.Transport)
	r = first(t, "transport_wait", "transport: {max_attempts: 2}\n")
	assert.Equal(t, "stop: transport attempt 2 of 2: network (attempts_exhausted)", r.End)
	assert.Equal(t, -1, r.Change().ModelCalls)
	r = first(t, "parallel_tools", "transport: {max_attempts: 1}\n")
	assert.Equal(t, -1, r.Change().ToolRuns, "the call that broke is not made again")
}

// Each run starts from its recorded state, and the results are added up.
func TestRunsOfAJournalAreAskedOneByOne(t *testing.T) {
	out := ask(t, kept(t, "two_runs"), journal.WhatIf{Policy: policyOf(t, "max_attempts: 1\n")})
	require.Len(t, out.Runs, 2)
	assert.Equal(t, "stop: book_room attempt 1 of 1: tool_validation (attempts_exhausted)", out.Runs[0].End)
	assert.Equal(t, out.Runs[1].RecordedEnd, out.Runs[1].End)
	assert.Equal(t, out.Runs[0].Plus(out.Runs[1].Comparison), out.Comparison)
}

func TestOtherWordsAndNoWordsAtAll(t *testing.T) {
	words := "No: {{.Feedback.Message}}"
	out := ask(t, kept(t, "corrected"), journal.WhatIf{Feedback: &words})
	assert.Nil(t, out.Runs[0].Silent)
	assert.Zero(t, out.Change())
	r := first(t, "exhausted", "max_attempts: 2\nemit_feedback: false\n")
	assert.Equal(t, []string{"the model would not have been told what was wrong, but is assumed to have replied the same"}, r.Warnings)
}

// A reply is read by a stricter, a laxer and the same validator.
func TestAnotherValidatorReadsTheReplies(t *testing.T) {
	type reread = func(*journal.Header, *policy.Set, *machine.Reply) *machine.Reply
	judged := func(class fault.Class) reread {
		return func(_ *journal.Header, _ *policy.Set, was *machine.Reply) *machine.Reply {
			now := *was
			now.Calls = nil
			for _, c := range was.Calls {
				c.Class, c.Issues, c.Arguments = class, nil, json.RawMessage(`{}`)
				if class != "" {
					c.Issues = []fault.Issue{{Rule: "never"}}
				}
				now.Calls = append(now.Calls, c)
			}
			return &now
		}
	}
	text := kept(t, "corrected")
	strict := ask(t, text, journal.WhatIf{Reread: judged(fault.ToolValidation)}).Runs[0]
	assert.Equal(t, "stop: book_room attempt 3 of 3: tool_validation (attempts_exhausted)", strict.End)
	lax := ask(t, text, journal.WhatIf{Reread: judged("")}).Runs[0]
	require.NotNil(t, lax.Silent)
	assert.Equal(t, "run book_room", lax.Silent.Asks, "a call that was never run has no outcome")
	same := ask(t, text, journal.WhatIf{Reread: func(_ *journal.Header, _ *policy.Set, was *machine.Reply) *machine.Reply { return was }})
	assert.Zero(t, same.Change())
	hidden := ask(t, kept(t, "redacted"), journal.WhatIf{Reread: judged(fault.ToolValidation)}).Runs[0]
	assert.Equal(t, []string{"replies are not read again: parts of them were left out of the journal"}, hidden.Warnings)
	assert.Nil(t, hidden.First)
}

func TestWhatHasNoBearingIsSaid(t *testing.T) {
	r := first(t, "exhausted", "max_attempts: 2\ntext_repairs: refuse\n")
	assert.Equal(t, []string{"text_repairs of the answer has no effect: replies are taken as they were read"}, r.Warnings)
	out := ask(t, kept(t, "compacted"), journal.WhatIf{Policy: policyOf(t, "max_attempts: 1\n")})
	assert.Empty(t, out.Runs)
	assert.Equal(t, []string{"of the run that was compacted nothing can be asked: its beginning is not there"}, out.Warnings)
}

// A run that its caller cancelled, and one whose journal is incomplete.
func TestARunThatWasNotEnded(t *testing.T) {
	text := kept(t, "corrected")
	cut := journal.Chain(recordsOf(t, text)[:7]...)
	r := ask(t, cut, journal.WhatIf{}).Runs[0]
	require.NotNil(t, r.Silent)
	assert.Equal(t, "the record ends here, before the run does", r.Silent.Has)
	assert.Zero(t, r.Change())

	ctx, cancel := context.WithCancel(t.Context())
	st := story{act: func(t *testing.T, s *session.Session, j *journal.Journal) {
		model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			cancel()
			return message.Reply{}, ctx.Err()
		})
		_, err := fixture.Run(ctx, model, fixture.In(s, j), loop.Input{Prompt: "Hi."}, loop.Config{})
		require.Error(t, err)
	}}
	r = ask(t, st.record(t), journal.WhatIf{Policy: policyOf(t, "max_attempts: 1\n")}).Runs[0]
	assert.Nil(t, r.Silent)
	assert.Equal(t, "stop (cancelled)", r.End)
}

func TestAQuestionThatCannotBeAskedIsRefused(t *testing.T) {
	_, err := journal.WhatIf{Policy: &policy.Set{}, Feedback: new("{{")}.Run(bytes.NewReader(nil))
	require.ErrorContains(t, err, "policy: max_turns")
	require.ErrorContains(t, err, "feedback: ")
	_, err = journal.WhatIf{}.Run(bytes.NewReader(kept(t, "bad-decision-changed")))
	require.ErrorIs(t, err, journal.ErrDiffers, "a journal that does not replay answers nothing")
}

// Several questions about one journal have the answers that each has alone.
func TestQuestionsAreAskedTogether(t *testing.T) {
	one, two := journal.WhatIf{Policy: policyOf(t, "max_attempts: 1\n")}, journal.WhatIf{}
	for _, name := range []string{"two_runs", "corrected", "compacted"} {
		text := kept(t, name)
		all, err := journal.WhatIfs(bytes.NewReader(text), one, two)
		require.NoError(t, err)
		assert.Equal(t, []journal.Outlook{ask(t, text, one), ask(t, text, two)}, all)
	}
	none, err := journal.WhatIfs(bytes.NewReader(nil))
	require.NoError(t, err)
	assert.Empty(t, none)
	bad, err := journal.WhatIfs(bytes.NewReader(kept(t, "bad-decision-changed")), one, two)
	require.ErrorIs(t, err, journal.ErrDiffers)
	assert.Len(t, bad, 2)
}
