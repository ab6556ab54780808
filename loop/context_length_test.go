package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// smallModel is a model with a small window, which calls a tool a number of times before it answers.
type smallModel struct {
	window, calls int
	refused       int
	largest       int
	last          []message.Message
}

func (m *smallModel) Reply(_ context.Context, req loop.Request) (message.Reply, error) {
	size := projection.Bytes(req.Messages)
	if size > m.window {
		m.refused++
		return message.Reply{}, &fault.ClassError{Class: fault.ContextLength, Cause: errors.New("too long")}
	}
	m.largest, m.last = max(m.largest, size), req.Messages
	if m.calls == 0 {
		return message.Reply{Text: "done"}, nil
	}
	m.calls--
	return message.Reply{Calls: []message.Call{{ID: fmt.Sprint("c", m.calls), Name: "pay",
		Arguments: fmt.Sprintf(`{"n":%d}`, m.calls)}}}, nil
}

func payer(t *testing.T) *tool.Set {
	t.Helper()
	type in struct {
		N int `json:"n"`
	}
	set, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, in in) (string, error) {
		return fmt.Sprintf("receipt %d ", in.N) + strings.Repeat("blah ", 200), nil
	}))
	require.NoError(t, err)
	return set
}

// A run outlives its window ten times, and no payment is lost to the model. Its journal replays, whole and
// redacted.
func TestAPromptThatIsTooLongIsMadeShorterAndSentAgain(t *testing.T) {
	for name, redact := range map[string]*journal.Redaction{
		"whole":    nil,
		"redacted": {Prompts: true, Replies: true, Tools: map[string]journal.ToolRedaction{"*": {Arguments: []string{""}, Result: []string{""}}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &smallModel{window: 12000, calls: 120}
			with := plainSettings
			with.Redact = redact
			dir := journal.Dir(t.TempDir())
			j, err := journal.Open(t.Context(), dir, "order-42", with)
			require.NoError(t, err)
			s, err := session.New(session.Config{ID: "order-42", Journal: j})
			require.NoError(t, err)
			set := policy.DefaultSet()
			set.MaxTurns = policy.Unlimited
			l, err := loop.New(m, loop.Config{Tools: payer(t), Policy: &set})
			require.NoError(t, err)
			r, err := l.Run(t.Context(), s, loop.Input{Prompt: "pay them all"})
			require.NoError(t, err)
			require.NoError(t, j.Close())
			assert.Equal(t, "done", r.Text)
			assert.Greater(t, projection.Bytes(r.Transcript), 10*m.window)
			assert.LessOrEqual(t, m.largest, m.window)
			prompt := fmt.Sprint(m.last)
			for n := range 120 {
				assert.Contains(t, prompt, fmt.Sprintf(`{"n":%d}`, n), "no payment is lost to the model")
			}
			assert.Positive(t, m.refused)
			for _, a := range r.Attempts {
				if a.Class == fault.ContextLength {
					assert.Equal(t, policy.ReasonShortened, a.Reason)
					assert.Equal(t, 1, a.Attempt, "it costs no attempt")
				}
			}
			_, err = journal.Replay(strings.NewReader(lines(t, dir)), nil)
			require.NoError(t, err)
		})
	}
}

// A prompt of which nothing can be left out ends the run, and says so.
func TestAPromptThatCannotBeMadeShorterEndsTheRun(t *testing.T) {
	l, err := loop.New(&smallModel{window: 100}, loop.Config{})
	require.NoError(t, err)
	_, err = l.Run(t.Context(), nil, loop.Input{Prompt: strings.Repeat("long ", 100)})
	require.ErrorIs(t, err, policy.ReasonContextFull)
	assert.EqualError(t, err, "answer: attempt 1 of 4 on the transport plane: the prompt is too long, and nothing more can be left out: "+
		"context_length: too long")
}

func TestASummaryTakesThePlaceOfOldTurns(t *testing.T) {
	m := &smallModel{window: 12000, calls: 60}
	set := policy.DefaultSet()
	set.Context.Steps = []policy.ContextStep{policy.Summarise}
	asked := 0
	by := func(_ context.Context, said []message.Message) (string, message.Usage, error) {
		if asked++; asked == 2 {
			return "", message.Usage{InputTokens: 3}, errors.New("no")
		}
		return fmt.Sprint("SUMMARY ", len(said)), message.Usage{InputTokens: 5}, nil
	}
	l, err := loop.New(m, loop.Config{Tools: payer(t), Policy: &set}, loop.WithSummary(by))
	require.NoError(t, err)
	r, err := l.Run(t.Context(), nil, loop.Input{Prompt: "pay them all"})
	require.NoError(t, err)
	assert.Greater(t, asked, 2)
	assert.EqualValues(t, 5*(asked-1)+3, r.Usage.InputTokens)
	assert.Equal(t, []string{"a summary failed, and older messages are left out without one: no"}, r.Warnings)
	assert.Contains(t, fmt.Sprint(m.last), `A model summed them up: "SUMMARY`)
	assert.Regexp(t, `A model summed them up: [^\]]* returned "`, fmt.Sprint(m.last), "the newest say what they returned")
}

// A summary that is as long as what it takes the place of has failed, too.
func TestASummaryThatIsTooLongIsLeftOut(t *testing.T) {
	m := &smallModel{window: 12000, calls: 60}
	set := policy.DefaultSet()
	set.Context.Steps = []policy.ContextStep{policy.Summarise}
	by := func(_ context.Context, said []message.Message) (string, message.Usage, error) {
		return strings.Repeat("SUMMARY ", projection.Bytes(said)/8), message.Usage{InputTokens: 5}, nil
	}
	l, err := loop.New(m, loop.Config{Tools: payer(t), Policy: &set}, loop.WithSummary(by))
	require.NoError(t, err)
	r, err := l.Run(t.Context(), nil, loop.Input{Prompt: "pay them all"})
	require.NoError(t, err)
	require.NotEmpty(t, r.Warnings)
	assert.Equal(t, "a summary is no shorter than what it sums up, and older messages are left out without it", r.Warnings[0])
	assert.NotContains(t, fmt.Sprint(m.last), "SUMMARY")
	assert.Positive(t, r.Usage.InputTokens, "it is paid")
}

// A summary that says nothing has failed, too: it would take the place of all that it was asked to sum up.
func TestASummaryThatSaysNothingHasFailed(t *testing.T) {
	m := &smallModel{window: 12000, calls: 60}
	set := policy.DefaultSet()
	set.Context.Steps = []policy.ContextStep{policy.Summarise}
	by := func(context.Context, []message.Message) (string, message.Usage, error) {
		return " \n", message.Usage{InputTokens: 5}, nil
	}
	l, err := loop.New(m, loop.Config{Tools: payer(t), Policy: &set}, loop.WithSummary(by))
	require.NoError(t, err)
	r, err := l.Run(t.Context(), nil, loop.Input{Prompt: "pay them all"})
	require.NoError(t, err)
	require.NotEmpty(t, r.Warnings)
	assert.Equal(t, "a summary failed, and older messages are left out without one: it says nothing", r.Warnings[0])
	assert.NotContains(t, fmt.Sprint(m.last), "summed them up")
	assert.Positive(t, r.Usage.InputTokens, "it is paid")
}

// A summary that was under way when a process ended is made again, and a note says that both may be paid for.
func TestASummaryThatWasCutOffMayHaveBeenPaidFor(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	set := policy.DefaultSet()
	set.Context.Steps = []policy.ContextStep{policy.Summarise}
	m, asked := &smallModel{window: 12000, calls: 20}, 0
	ctx, leave := context.WithCancelCause(t.Context())
	by := func(ctx context.Context, _ []message.Message) (string, message.Usage, error) {
		if asked++; asked == 1 {
			leave(loop.ErrSuspended)
		}
		return "SUMMARY", message.Usage{}, ctx.Err()
	}
	l, err := loop.New(m, loop.Config{Tools: payer(t), Policy: &set}, loop.WithSummary(by))
	require.NoError(t, err)
	open := func() *journal.Journal {
		j, err := journal.Open(t.Context(), dir, "order-42", plainSettings)
		require.NoError(t, err)
		return j
	}
	j := open()
	_, err = l.Run(ctx, fixture.In(newSessionNamed(t, "order-42"), j), loop.Input{Prompt: "pay them all"})
	require.ErrorIs(t, err, loop.ErrSuspended)
	require.NoError(t, j.Close())
	j = open()
	_, err = l.Resume(t.Context(), fixture.In(newSessionNamed(t, "order-42"), j))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	var notes []string
	for _, rec := range records(t, string(dir)) {
		if rec.Note != nil && rec.Note.Kind == journal.Resumed {
			notes = append(notes, rec.Note.Text)
		}
	}
	assert.Equal(t, []string{"the summary is made again: the call that was under way may have been paid for"}, notes)
}

// metered is a model that counts four bytes as a token, and says so.
type metered struct {
	smallModel
	sizes []int
}

func (m *metered) Describe() machine.ModelInfo { return machine.ModelInfo{Name: "m"} }

func (m *metered) Reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	size := projection.Bytes(req.Messages)
	m.sizes = append(m.sizes, size)
	r, err := m.smallModel.Reply(ctx, req)
	r.Usage = message.Usage{InputTokens: int64(size / 4), OutputTokens: 10}
	return r, err
}

// Where the window is known, nothing is left out below three quarters of it, and no call is too long.
func TestAPromptStaysWithinAKnownWindow(t *testing.T) {
	m := &metered{smallModel: smallModel{window: 24000, calls: 60}}
	set := policy.DefaultSet()
	set.Prices = policy.Prices{"m": {ContextWindow: new(int64(6000))}}
	l, err := loop.New(m, loop.Config{Tools: payer(t), Policy: &set})
	require.NoError(t, err)
	_, err = l.Run(t.Context(), nil, loop.Input{Prompt: "pay them all"})
	require.NoError(t, err)
	assert.Zero(t, m.refused)
	shorter := 0
	for n := range m.sizes[1:] {
		if m.sizes[n+1] < m.sizes[n] {
			assert.Greater(t, m.sizes[n], 24000*2/3, "nothing is cut below")
			assert.Less(t, m.sizes[n+1], 24000*6/10, "much is cut at once")
			shorter++
		}
	}
	assert.Greater(t, shorter, 2)
	assert.Less(t, shorter, 12)
}

// What a prompt leaves out stays left out in the next run of the session, with a journal and without: nothing
// is summed up twice, and the failures of the run before can be folded.
func TestTheNextRunGoesOnWithWhatWasLeftOut(t *testing.T) {
	for name, recorded := range map[string]bool{"without a journal": false, "with one": true} {
		t.Run(name, func(t *testing.T) {
			s := session.Config{ID: "s"}
			if recorded {
				j, err := journal.Open(t.Context(), journal.Dir(t.TempDir()), "s", plainSettings)
				require.NoError(t, err)
				defer j.Close()
				s.Journal = j
			}
			talk, err := session.New(s)
			require.NoError(t, err)
			set, asked := policy.DefaultSet(), 0
			set.Context.Steps = []policy.ContextStep{policy.Summarise}
			by := func(context.Context, []message.Message) (string, message.Usage, error) {
				asked++
				return "SUMMARY", message.Usage{}, nil
			}
			m := &smallModel{window: 12000, calls: 20}
			l, err := loop.New(m, loop.Config{Tools: payer(t), Policy: &set}, loop.WithSummary(by))
			require.NoError(t, err)
			_, err = l.Run(t.Context(), talk, loop.Input{Prompt: "pay them all"})
			require.NoError(t, err)
			before, summaries, refused := m.last, asked, m.refused
			require.Positive(t, summaries)
			_, err = l.Run(t.Context(), talk, loop.Input{Prompt: "what was that?"})
			require.NoError(t, err)
			assert.Equal(t, before, m.last[:len(before)], "the prompt goes on where it ended")
			assert.Equal(t, summaries, asked)
			assert.Equal(t, refused, m.refused)

			_, err = l.Run(t.Context(), talk, loop.Input{Prompt: "from the beginning", NewConversation: true})
			require.NoError(t, err)
			assert.Len(t, m.last, 1, "another conversation has nothing of it")
		})
	}
}

// A failed call of one run is folded in the next, once the tool has passed.
func TestAFailureOfTheRunBeforeIsFolded(t *testing.T) {
	m := &scriptedWindow{window: 6000, replies: []message.Reply{
		{Calls: []message.Call{{ID: "c1", Name: "pay", Arguments: `{"n":"` + strings.Repeat("one ", 600) + `"}`}}},
		{Calls: []message.Call{{ID: "c2", Name: "pay", Arguments: `{"n":1}`}}},
		{Text: "paid"},
	}}
	set := policy.DefaultSet()
	set.Context.Steps = []policy.ContextStep{policy.Fold}
	set.Context.Keep = new(1)
	l, err := loop.New(m, loop.Config{Tools: payer(t), Policy: &set})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "s"})
	require.NoError(t, err)
	_, err = l.Run(t.Context(), s, loop.Input{Prompt: "pay one"})
	require.NoError(t, err)
	m.replies = []message.Reply{{Text: "fine"}}
	_, err = l.Run(t.Context(), s, loop.Input{Prompt: strings.Repeat("and now? ", 300)})
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprint(m.last), "one one")
	assert.Contains(t, fmt.Sprint(m.last), "receipt 1")
}

// scriptedWindow is a model with a small window and a script.
type scriptedWindow struct {
	window  int
	replies []message.Reply
	last    []message.Message
}

func (m *scriptedWindow) Reply(_ context.Context, req loop.Request) (message.Reply, error) {
	if projection.Bytes(req.Messages) > m.window {
		return message.Reply{}, &fault.ClassError{Class: fault.ContextLength, Cause: errors.New("too long")}
	}
	next := m.replies[0]
	m.replies, m.last = m.replies[1:], req.Messages
	return next, nil
}

// The first prompt of a run is estimated from what it shows of the conversation: what an earlier run left out
// is not there, and a prompt below the bound stays as it is.
func TestThePromptOfTheNextRunIsEstimatedAsItIsShown(t *testing.T) {
	m := &smallModel{window: 12000}
	model := loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
		r, err := m.Reply(ctx, req)
		r.Usage = message.Usage{InputTokens: machine.EstimateTokens(req.Messages), OutputTokens: 1, APICalls: 1}
		return r, err
	})
	set := policy.DefaultSet()
	set.MaxTurns, set.Prices = policy.Unlimited, policy.Prices{"m": {ContextWindow: new(int64(5000))}}
	l, err := loop.New(model, loop.Config{Tools: payer(t), Policy: &set, Models: map[string]machine.ModelInfo{"": {Name: "m"}}})
	require.NoError(t, err)
	s := newSession(t)
	for n, calls := range []int{40, 0} {
		m.calls = calls
		was := m.last
		_, err = l.Run(t.Context(), s, loop.Input{Prompt: "pay them all"})
		require.NoError(t, err)
		if n == 1 {
			require.Less(t, machine.EstimateTokens(was), int64(5000*70/100))
			assert.Equal(t, was, m.last[:len(was)], "nothing more is left out")
		}
	}
}

// A call that asked for another one and left something in doubt is not lost to the model, however old it is.
func TestACallThatAskedAgainInDoubtStaysInThePrompt(t *testing.T) {
	type in struct {
		N int `json:"n"`
	}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(ctx context.Context, in in) (string, error) {
		if in.N == 30 {
			return "", errors.Join(tool.AskAgain(fault.Issue{Pointer: "/n", Rule: "n", Expected: "less"}), tool.Doubt(ctx))
		}
		return strings.Repeat("blah ", 200), nil
	}))
	require.NoError(t, err)
	m := &smallModel{window: 9000, calls: 31}
	l, err := loop.New(m, loop.Config{Tools: tools})
	require.NoError(t, err)
	r, err := l.Run(t.Context(), newSession(t), loop.Input{Prompt: "pay them all"})
	require.NoError(t, err)
	require.Len(t, r.InDoubt, 1)
	assert.Positive(t, m.refused)
	assert.Contains(t, m.last[1].Text, `- pay {"n":30}: its effect may or may not have happened`)
}

// A session that was restored knows of its conversation what it knew: which calls had an effect, also of
// those in texts, and whose effect nobody knows; and what prompts leave out.
func TestARestoredSessionLosesNoReceipt(t *testing.T) {
	type in struct {
		N int `json:"n"`
	}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, in in) (string, error) {
		if in.N == 7 {
			return "", errors.New("the line is dead")
		}
		return fmt.Sprintf("receipt %d ", in.N) + strings.Repeat("blah ", 200), nil
	}))
	require.NoError(t, err)
	for name, c := range map[string]struct{ native, journaled bool }{
		"native calls": {native: true}, "calls in texts": {},
		"native calls, a new journal": {true, true}, "calls in texts, a new journal": {journaled: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := &smallModel{window: 12000, calls: 20}
			model := loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
				r, err := m.Reply(ctx, req)
				if len(r.Calls) > 0 && !c.native {
					r.Text = fmt.Sprintf(`<tool_call>{"name": "pay", "arguments": %s}</tool_call>`, r.Calls[0].Arguments)
					r.Calls = nil
				}
				return r, err
			})
			l, err := loop.New(model, loop.Config{Tools: tools})
			require.NoError(t, err)
			s := newSession(t)
			_, err = l.Run(t.Context(), s, loop.Input{Prompt: "pay them all"})
			require.NoError(t, err)
			before := m.last
			kept, err := s.Snapshot()
			require.NoError(t, err)
			var cfg session.Config
			if c.journaled {
				j, err := journal.Open(t.Context(), journal.Dir(t.TempDir()), s.ID(), journal.Settings{})
				require.NoError(t, err)
				defer j.Close()
				cfg.Journal = j
			}
			s, err = session.Restore(cfg, kept)
			require.NoError(t, err)
			again, err := s.Snapshot()
			require.NoError(t, err)
			assert.Equal(t, string(kept), string(again))
			_, err = l.Run(t.Context(), s, loop.Input{Prompt: "what was that?"})
			require.NoError(t, err)
			assert.Equal(t, before, m.last[:len(before)], "the prompt goes on where it ended")

			m.window = 4500
			_, err = l.Run(t.Context(), s, loop.Input{Prompt: "and that?"})
			require.NoError(t, err)
			said := fmt.Sprint(m.last)
			for n := range 20 {
				assert.Contains(t, said, fmt.Sprintf(`{"n":%d}`, n))
			}
			assert.Contains(t, said, `- pay {"n":7}: its effect may or may not have happened`)
		})
	}
}

// A payment was made, and the state refused what followed from it. However short the prompt gets, the model
// is not told that the payment failed: it would pay again.
func TestACallThatTheStateRefusedIsNotShortenedToAFailure(t *testing.T) {
	type in struct {
		N int `json:"n"`
	}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(ctx context.Context, in in) (string, error) {
		return fmt.Sprintf("receipt %d", in.N), tool.Emit(ctx, "paid", in)
	}))
	require.NoError(t, err)
	paid := session.LogSlice[in]("paid")
	refuse := func(reducer.View[in], in) (reducer.Change[in], error) {
		return reducer.None[in](), errors.New("over the limit")
	}
	s, err := session.New(session.Config{ID: "order-42", Slices: []session.Declared{paid},
		Reducers: []session.Reducer{session.On(paid, "paid", "limit", refuse)}})
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.MaxTurns, set.Budgets.Run, set.Budgets.Tool = policy.Unlimited, policy.Unlimited, policy.Unlimited
	m := &smallModel{window: 12000, calls: 120}
	_, err = fixture.Run(t.Context(), m, s, loop.Input{Prompt: "Pay them all."}, loop.Config{Tools: tools, Policy: &set})
	require.NoError(t, err)
	require.Positive(t, m.refused)
	prompt := fmt.Sprint(m.last)
	assert.Contains(t, prompt, `- pay {"n":119} was done`)
	assert.NotContains(t, prompt, "} failed")
}

// A caller may keep the messages alone. An error among them does not say that nothing was done: the call may
// be in doubt, or have run and the state refused its result. So such calls are not shortened to failures.
func TestTheCallsOfAHistoryAreNotShortenedToFailures(t *testing.T) {
	type in struct {
		N int `json:"n"`
	}
	paid := session.LogSlice[in]("paid")
	refuse := func(reducer.View[in], in) (reducer.Change[in], error) {
		return reducer.None[in](), errors.New("over the limit")
	}
	for _, end := range []error{errBoom, nil} {
		tools, err := tool.NewSet(tool.New("pay", "Pays.", func(ctx context.Context, in in) (string, error) {
			return "receipt", errors.Join(tool.Emit(ctx, "paid", in), end)
		}))
		require.NoError(t, err)
		s, err := session.New(session.Config{Slices: []session.Declared{paid},
			Reducers: []session.Reducer{session.On(paid, "paid", "limit", refuse)}})
		require.NoError(t, err)
		set := policy.DefaultSet()
		set.MaxTurns, set.Budgets.Run, set.Budgets.Tool = policy.Unlimited, policy.Unlimited, policy.Unlimited
		set.Global.Progress = &policy.Progress{Stop: policy.Unlimited}
		cfg := loop.Config{Tools: tools, Policy: &set}
		first, err := fixture.Run(t.Context(), &smallModel{window: 1 << 20, calls: 120}, s, loop.Input{Prompt: "Pay them all."}, cfg)
		require.NoError(t, err)
		m := &smallModel{window: 9000}
		_, err = fixture.Run(t.Context(), m, newSession(t), loop.Input{Prompt: "And now?", History: first.Transcript}, cfg)
		require.NoError(t, err)
		require.Positive(t, m.refused)
		prompt := fmt.Sprint(m.last)
		assert.Contains(t, prompt, `- pay {"n":119} was answered by an error`)
		assert.NotContains(t, prompt, "} failed")
	}
}
