package usercode_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/engine/usercode"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

var errOwn = errors.New("no key")

// said is a conversation of three messages.
func said() []message.Message {
	return []message.Message{
		{Role: message.User, Text: "Hello."}, {Role: message.Assistant, Text: "Hi."}, {Role: message.User, Text: "Go on."},
	}
}

func TestAModelIsAskedWhatThePromptSays(t *testing.T) {
	call := &machine.ModelCall{
		System: "Be brief.", Model: "spare", At: []machine.Position{{Action: "pay", Attempt: 2}}, Temperature: new(0.5), ToolChoice: "required",
		Stop: []string{"END"}, MaxOutputTokens: 7,
	}
	cut := []projection.Cut{{Step: policy.Summarise, From: 0, To: 2, Text: "They greeted."}}
	for name, c := range map[string]struct {
		cuts    []projection.Cut
		first   time.Duration
		texts   []string
		streams bool
	}{
		"the whole conversation":   {texts: []string{"Hello.", "Hi.", "Go on."}},
		"what a cut leaves of it":  {cuts: cut, texts: []string{"They greeted.", "Go on."}},
		"in pieces, if limits say": {first: time.Minute, texts: []string{"Hello.", "Hi.", "Go on."}, streams: true},
	} {
		t.Run(name, func(t *testing.T) {
			own, call := said(), *call
			call.FirstToken = c.first
			var got loop.Request
			model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
				got = r
				for _, m := range r.Messages {
					assert.Contains(t, c.texts, m.Text)
				}
				assert.Len(t, r.Messages, len(c.texts))
				r.Messages[0].Text = "changed"
				return message.Reply{Text: "Done."}, nil
			})
			reply, err := usercode.Reply(t.Context(), model, usercode.Prompt{Call: &call, Said: own, Cuts: c.cuts}, 0)
			require.NoError(t, err)
			assert.Equal(t, "Done.", reply.Text)
			assert.Equal(t, said(), own, "what the model does with its request stays there")
			assert.Equal(t, c.streams, got.Stream != nil)
			got.Messages, got.Stream = nil, nil
			assert.Equal(t, loop.Request{
				System: "Be brief.", Model: "spare", At: []machine.Position{{Action: "pay", Attempt: 2}}, Temperature: call.Temperature, ToolChoice: "required",
				Stop: []string{"END"}, MaxOutputTokens: 7,
			}, got)
		})
	}
}

func TestAModelEndsOneWayOrAnother(t *testing.T) {
	ownLimit := func(m *machine.ModelCall) { m.Timeout = time.Second }
	waits := func(ctx context.Context) (message.Reply, error) { <-ctx.Done(); return message.Reply{}, ctx.Err() }
	for name, c := range map[string]struct {
		limits func(*machine.ModelCall)
		most   time.Duration
		ends   func(ctx context.Context) (message.Reply, error)
		err    string
		after  time.Duration
	}{
		"with its error":                {ends: func(context.Context) (message.Reply, error) { return message.Reply{}, errOwn }, err: "no key"},
		"with a panic":                  {ends: func(context.Context) (message.Reply, error) { panic(errOwn) }, err: "panic: no key"},
		"with a panic within its limit": {limits: ownLimit, ends: func(context.Context) (message.Reply, error) { panic(errOwn) }, err: "panic: no key"},
		"at its limit": {limits: ownLimit, most: time.Minute, ends: waits, err: "timeout: the model did not reply within 1s",
			after: time.Second},
		"at the engine's limit": {most: time.Minute, ends: waits, err: "timeout: the model did not reply within 1m0s", after: time.Minute},
		"with no first piece": {limits: func(m *machine.ModelCall) { m.FirstToken = 2 * time.Second }, ends: waits,
			err: "timeout: nothing of the model's reply arrived for 2s", after: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				call, begun := &machine.ModelCall{}, time.Now()
				if c.limits != nil {
					c.limits(call)
				}
				model := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) { return c.ends(ctx) })
				_, err := usercode.Reply(t.Context(), model, usercode.Prompt{Call: call, Said: said()}, c.most)
				require.EqualError(t, err, c.err)
				assert.Equal(t, c.after, time.Since(begun))
			})
		})
	}
}

func TestAPanicOfTheUsersCodeIsAnErrorOfItsOwn(t *testing.T) {
	_, err := usercode.Contained(func() (int, error) { panic(errOwn) })
	panicked, is := errors.AsType[*fault.PanicError](err)
	require.True(t, is)
	assert.Equal(t, errOwn, panicked.Value)
	assert.Contains(t, panicked.Stack, "usercode_test.go", "where it was")
	assert.NotErrorIs(t, err, errOwn, "it is not what the code would have returned")
	n, err := usercode.Contained(func() (int, error) { return 3, errOwn })
	assert.Equal(t, 3, n)
	assert.Equal(t, errOwn, err)
}

func TestASummaryThatFailsCostsWhatItUsed(t *testing.T) {
	used := message.Usage{InputTokens: 5}
	for name, c := range map[string]struct {
		sum  loop.SummaryFunc
		made machine.Summary
		err  string
	}{
		"made": {
			func(_ context.Context, of []message.Message) (string, message.Usage, error) {
				return of[0].Text, used, nil
			},
			machine.Summary{Text: "Hello.", Usage: used}, "",
		},
		"failed": {
			func(context.Context, []message.Message) (string, message.Usage, error) { return "half", used, errOwn },
			machine.Summary{Usage: used}, "no key",
		},
		"a panic": {
			func(context.Context, []message.Message) (string, message.Usage, error) { panic("no key") },
			machine.Summary{}, "panic: no key",
		},
		"too late": {
			func(ctx context.Context, _ []message.Message) (string, message.Usage, error) {
				<-ctx.Done()
				time.Sleep(time.Second)
				return "late", used, nil
			},
			machine.Summary{}, "timeout: nobody summed up within 1m0s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer time.Sleep(time.Minute) // for what is late
				own := said()
				made, err := usercode.SumUp(t.Context(), c.sum, own, time.Minute)
				if assert.Equal(t, c.made, made); c.err == "" {
					require.NoError(t, err)
				} else {
					require.EqualError(t, err, c.err)
				}
				assert.Equal(t, said(), own)
			})
		})
	}
}

func TestAPlanThatCannotBeFollowedEndsTheRun(t *testing.T) {
	abort := machine.Plan{Do: machine.Abort}
	for name, c := range map[string]struct {
		plans func() (machine.Plan, error)
		plan  machine.Plan
		err   string
	}{
		"one that can":  {func() (machine.Plan, error) { return machine.Plan{Do: machine.Fallback, Model: "spare"}, nil }, machine.Plan{Do: machine.Fallback, Model: "spare"}, ""},
		"no such model": {func() (machine.Plan, error) { return machine.Plan{Do: machine.Fallback, Model: "other"}, nil }, abort, "other"},
		"no such thing": {func() (machine.Plan, error) { return machine.Plan{Do: "dance"}, nil }, abort, "dance"},
		"an error":      {func() (machine.Plan, error) { return machine.Plan{Do: machine.Fallback, Model: "spare"}, errOwn }, abort, "no key"},
		"a panic":       {func() (machine.Plan, error) { panic(errOwn) }, abort, "panic: no key"},
		"broken characters": {
			func() (machine.Plan, error) { return machine.Plan{Do: machine.Abort, Note: "a\xffb"}, nil },
			machine.Plan{Do: machine.Abort, Note: "a\ufffdb"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			by := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) { return c.plans() })
			plan, err := usercode.Plan(t.Context(), by, machine.State{}, planner.Question{}, []string{"spare"})
			if assert.Equal(t, c.plan, plan); c.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.err)
			}
		})
	}
}

// stay has a rule of its own, which panics for two nights.
type stay struct {
	Nights int `json:"nights"`
}

func (s stay) Issues() []fault.Issue {
	switch s.Nights {
	case 1:
		return []fault.Issue{{Pointer: "/nights", Rule: "short", Expected: "more nights"}}
	case 2:
		panic("password=correct-horse-7")
	}
	return nil
}

// A person's changed arguments are checked as the tool's, and code that fails refuses them.
func TestAPersonsAnswerIsJudged(t *testing.T) {
	book := tool.New("book", "Books a room.", func(context.Context, stay) (string, error) { return "booked", nil },
		tool.Approval(policy.Approval{When: policy.ApproveAlways}))
	tools, err := tool.NewSet(book)
	require.NoError(t, err)
	cfg, err := loop.Config{Tools: tools}.Machine()
	require.NoError(t, err)
	s, err := session.NewState("order-42")
	require.NoError(t, err)
	st, err := machine.New(cfg, s)
	require.NoError(t, err)
	_, err = machine.Step(&st, &machine.Event{Kind: machine.Started, At: looptest.Epoch, Messages: said()})
	require.NoError(t, err)
	reply := message.Reply{Calls: []message.Call{{ID: "c1", Name: "book", Arguments: `{"nights":7}`}}}
	read := engine.Read(reply, engine.Offer{Tools: tools}, "", engine.Settings(nil))
	_, err = machine.Step(&st, &machine.Event{Kind: machine.Replied, At: looptest.Epoch, Reply: read})
	require.NoError(t, err)
	require.Len(t, st.Asks(), 1)
	for arguments, want := range map[string]string{
		`{"nights":3}`: "", `{"nights":1}`: "arguments: the tool refuses them: nights: ", `{"nights":2}`: "panic: password=",
	} {
		answer := machine.Response{Question: st.Asks()[0].ID, Verdict: machine.Approve, Arguments: []byte(arguments)}
		j := usercode.Judge(st, tools, looptest.Epoch, answer)
		if want == "" {
			require.Nil(t, j.Refused)
			assert.JSONEq(t, arguments, string(j.Event.Response.Arguments))
			continue
		}
		assert.Nil(t, j.Event, arguments)
		require.ErrorIs(t, j.Refused, machine.ErrMisfit)
		assert.Contains(t, j.Refused.Error(), want)
		assert.NotContains(t, j.Refused.Error(), "correct-horse-7")
	}
}
