package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// calling is a model that makes these calls in one reply, and then says what it was told.
func calling(calls ...message.Call) loop.Model {
	return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		var told []string
		for _, m := range r.Messages {
			if m.Role == message.Tool {
				told = append(told, m.Text)
			}
		}
		used := message.Usage{InputTokens: 100, OutputTokens: 10, APICalls: 1}
		if len(told) == 0 {
			return message.Reply{Calls: calls, Finish: message.ToolUse, Usage: used}, nil
		}
		return message.Reply{Text: strings.Join(told, "; "), Finish: message.Stop, Usage: used}, nil
	})
}

// payers is a pool whose runs call an agent in an agent, and pay beside them. Both pay: the inner one asks a
// person first.
type payers struct {
	mu    sync.Mutex
	paid  map[string]int
	asked chan string
	over  chan error
	last  loop.Result
	store inbox.Store
	run   *loop.PoolRun
	*loop.Pool
}

func (p *payers) pay(ctx context.Context, _ struct{}) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paid[tool.SessionID(ctx)+" "+tool.IdempotencyKey(ctx)]++
	return "paid", nil
}

// open makes a new pool in the place of the last.
func (p *payers) open(t *testing.T) {
	wire := tool.New("wire", "Pays.", p.pay, tool.Approval(policy.Approval{When: policy.ApproveAlways}))
	tools, err := tool.NewSet(wire)
	require.NoError(t, err)
	calls := []message.Call{{ID: "c1", Name: "wire", Arguments: `{}`}}
	for _, name := range []string{"clerk", "guide"} {
		made, err := agent.AsTool(name, "Does it.", calling(calls...), loop.Config{Tools: tools},
			loop.WithApprover(func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
				p.asked <- q.Session
				return machine.Response{}, nil // others answer
			}))
		require.NoError(t, err)
		tools, err = tool.NewSet(made, tool.New("pay", "Pays.", p.pay))
		require.NoError(t, err)
		calls = []message.Call{{ID: "c1", Name: name, Arguments: `{"task":"Pay."}`}, {ID: "c2", Name: "pay", Arguments: `{}`}}
	}
	p.over = make(chan error, 1)
	p.Pool, err = loop.NewPool(loop.PoolConfig{Model: calling(calls...), Config: loop.Config{Tools: tools},
		Done: func(_ *session.Session, r loop.Result, err error) { p.last = r; p.over <- err }})
	require.NoError(t, err)
}

func (p *payers) session(t *testing.T) *session.Session {
	j, err := journal.Open(t.Context(), p.store, "order", journal.Settings{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	s, err := session.New(session.Config{ID: "order", Journal: j})
	require.NoError(t, err)
	return s
}

// serve serves the pool until the agent within asks a person, and then ends the drive.
func (p *payers) serve(t *testing.T, end func(context.CancelCauseFunc)) {
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, 1) }()
	assert.Equal(t, "order.1.1.1.1.1.1", <-p.asked)
	end(stop)
	require.Error(t, <-served)
}

// approve answers the question of the agent within.
func (p *payers) approve(t *testing.T) {
	const within = "order.1.1.1.1.1.1"
	open, err := inbox.PendingOf(t.Context(), p.store, within, looptest.Epoch)
	require.NoError(t, err)
	require.Len(t, open, 1)
	require.NoError(t, inbox.Answer(t.Context(), p.store, within, machine.Response{Question: open[0].ID,
		Verdict: machine.Approve, At: looptest.Epoch}))
}

// leave ends a drive.
func leave(stop context.CancelCauseFunc) { stop(errors.New("the process is going down")) }

// goingOn is how a run goes on that was left.
var goingOn = map[string]func(t *testing.T, p *payers){
	"another drive": func(*testing.T, *payers) {},
	"handed over": func(t *testing.T, p *payers) {
		left := p.Close()
		require.Len(t, left, 1, "the run is handed back")
		p.open(t)
		var err error
		p.run, err = p.AddParked(left[0])
		require.NoError(t, err)
	},
	"another process": func(t *testing.T, p *payers) {
		left := p.Close()
		require.Len(t, left, 1)
		j, err := journal.Of(left[0].Session)
		require.NoError(t, err)
		require.NoError(t, j.Close())
		p.open(t)
		p.run, err = p.Add(p.session(t), loop.Input{Prompt: "Pay.", RequestID: "r"})
		require.NoError(t, err)
	},
}

// An agent that waits for a person keeps nobody: the end of the drive leaves it, and the run goes on inside.
func TestTheEndOfADriveLeavesAnAgentThatWaits(t *testing.T) {
	for name, again := range goingOn {
		t.Run(name, func(t *testing.T) {
			p := &payers{paid: map[string]int{}, asked: make(chan string, 9), store: new(looptest.Store)}
			p.open(t)
			_, err := p.Add(p.session(t), loop.Input{Prompt: "Pay.", RequestID: "r"})
			require.NoError(t, err)
			for range 3 {
				p.serve(t, leave)
				again(t, p)
			}
			p.approve(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go func() { _ = p.Serve(ctx, 1) }()
			require.NoError(t, <-p.over)
			assert.Equal(t, "paid; paid; paid", p.last.Text)
			assert.Empty(t, p.last.InDoubt)
			assert.Equal(t, message.Usage{InputTokens: 600, OutputTokens: 60, APICalls: 6}, p.last.Usage)
			assert.Len(t, p.paid, 3)
			for key, times := range p.paid {
				assert.Equal(t, 1, times, fmt.Sprint(key))
			}
		})
	}
}

// Close does not wait for an agent that waits, either.
func TestAPoolIsClosedWhileAnAgentWaits(t *testing.T) {
	p := &payers{paid: map[string]int{}, asked: make(chan string, 9), store: new(looptest.Store)}
	p.open(t)
	_, err := p.Add(p.session(t), loop.Input{Prompt: "Pay.", RequestID: "r"})
	require.NoError(t, err)
	left := make(chan []loop.Parked, 1)
	p.serve(t, func(context.CancelCauseFunc) { left <- p.Close() })
	require.Len(t, <-left, 1)
}

// A run that is cancelled after its calls were left ends as one that is cancelled while they wait: what they
// have done is in doubt.
func TestARunThatIsCancelledOnceItsAgentWasLeftHasItInDoubt(t *testing.T) {
	for name, again := range goingOn {
		t.Run(name, func(t *testing.T) {
			p := &payers{paid: map[string]int{}, asked: make(chan string, 9), store: new(looptest.Store)}
			p.open(t)
			var err error
			p.run, err = p.Add(p.session(t), loop.Input{Prompt: "Pay.", RequestID: "r"})
			require.NoError(t, err)
			p.serve(t, leave)
			again(t, p)
			p.run.Cancel(errors.New("no more"))
			p.Due(looptest.Epoch)
			x, ok := errors.AsType[*loop.RetryExhaustedError](<-p.over)
			require.True(t, ok)
			var doubts []string
			for _, c := range x.InDoubt {
				doubts = append(doubts, c.CallID+" "+c.Tool)
			}
			assert.Equal(t, []string{"c1 guide", "c2 pay"}, doubts)
			assert.Len(t, p.paid, 2)
		})
	}
}

// full is a store that cannot write the journal of the session order once it is full.
type full struct {
	*looptest.Store
	now atomic.Bool
}

func (f *full) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := f.Store.Open(ctx, session)
	if session == "order" {
		log = fullLog{log, f}
	}
	return log, err
}

type fullLog struct {
	journal.Log
	store *full
}

func (l fullLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	if l.store.now.Load() {
		return errors.New("no space left")
	}
	return l.Log.Append(ctx, at, lines, durable)
}

// What a call came to beside an agent that is left may be lost with the journal. It is in doubt then, and is
// not made again.
func TestACallBesideALeftAgentIsNotMadeTwiceWithoutItsJournal(t *testing.T) {
	store, asked, goOn, paid := &full{Store: new(looptest.Store)}, make(chan bool, 1), make(chan bool), make(chan bool, 2)
	answers := make(chan machine.Response, 1)
	approver := loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		select {
		case r := <-answers:
			return r, nil
		default:
			asked <- true
			return machine.Response{}, nil
		}
	})
	wire := tool.New("wire", "Pays.", func(context.Context, struct{}) (string, error) { return "wired", nil },
		tool.Approval(policy.Approval{When: policy.ApproveAlways}))
	inner, err := tool.NewSet(wire)
	require.NoError(t, err)
	guide, err := agent.AsTool("guide", "Does it.", calling(message.Call{ID: "c1", Name: "wire", Arguments: `{}`}),
		loop.Config{Tools: inner}, approver)
	require.NoError(t, err)
	tools, err := tool.NewSet(guide, tool.New("pay", "Pays.", func(ctx context.Context, _ struct{}) (string, error) {
		<-goOn
		store.now.Store(true)
		err := tool.Progress(ctx, "paying") // finds the store full
		paid <- true
		return "paid", err
	}))
	require.NoError(t, err)
	model := calling(message.Call{ID: "c1", Name: "guide", Arguments: `{"task":"Pay."}`},
		message.Call{ID: "c2", Name: "pay", Arguments: `{}`})
	over := make(chan loop.Result, 1)
	pool, err := loop.NewPool(loop.PoolConfig{Model: model, Config: loop.Config{Tools: tools},
		Done: func(_ *session.Session, r loop.Result, err error) { assert.NoError(t, err); over <- r }})
	require.NoError(t, err)
	j, err := journal.Open(t.Context(), store, "order", journal.Settings{OnError: journal.GoOn})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "order", Journal: j})
	require.NoError(t, err)
	_, err = pool.Add(s, loop.Input{Prompt: "Pay.", RequestID: "r"})
	require.NoError(t, err)
	ctx, stop := context.WithCancelCause(t.Context())
	served := make(chan error, 1)
	go func() { served <- pool.Serve(ctx, 1) }()
	<-asked
	close(goOn)
	<-paid
	leave(stop)
	require.Error(t, <-served)
	answers <- machine.Response{Verdict: machine.Approve}
	require.NoError(t, pool.Run(t.Context(), 1))
	r := <-over
	assert.Empty(t, paid, "it was made once")
	require.Len(t, r.InDoubt, 1)
	assert.Equal(t, "c2", r.InDoubt[0].CallID)
	assert.Contains(t, r.Text, "wired")
}
