package journaltest

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Closes tests stores that can be closed, and are a [journal.Keeper] and a [journal.Inbox]: one that is
// closed while a person's answer is put or taken says so, loses nothing, and nothing is done twice. Each call
// of fresh returns a function that opens one store, which is empty at first, again and again. It returns what
// closes it, too; that may be called twice.
func Closes(t *testing.T, fresh func(t *testing.T) (open func() (s journal.Store, close func()))) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, *closing){
		"while_an_answer_is_put":              closesWhilePut,
		"while_an_answer_of_another_is_taken": closesWhileTaken,
		"while_an_answer_is_given_here":       closesWhileGiven,
	} {
		t.Run(name, func(t *testing.T) {
			for after := 1; ; after++ {
				c := &closing{t: t, reopen: fresh(t)}
				c.open()
				c.question, c.left = c.ask(), after
				test(t, c)
				ended := c.left > 0 // all was done before
				c.ends()
				if ended {
					require.Greater(t, after, 1, "it is closed at least once")
					return
				}
				require.Less(t, after, 100)
			}
		})
	}
}

// closing is a store that is closed before so many operations, and a session in it whose payment waits for a
// person.
type closing struct {
	t      *testing.T
	reopen func() (journal.Store, func())
	inbox.Store
	close func()

	mu sync.Mutex
	// left is at which operation from now on it is closed; it is not if that is not positive.
	left     int
	paid     int
	question string
}

const closed = "order-42"

func (c *closing) open() {
	s, done := c.reopen()
	var ok bool
	c.Store, ok = s.(inbox.Store)
	require.True(c.t, ok, "the store is a journal.Keeper and a journal.Inbox")
	c.close = done
}

// op is an operation.
func (c *closing) op() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left == 0 {
		c.close()
	}
}

func (c *closing) Open(ctx context.Context, session string) (journal.Log, error) {
	c.op()
	log, err := c.Store.Open(ctx, session)
	return closingLog{log, c}, err
}

func (c *closing) Peek(ctx context.Context, session string) (io.ReadCloser, error) {
	c.op()
	return c.Store.Peek(ctx, session)
}

func (c *closing) Put(ctx context.Context, session string, item journal.Item) error {
	c.op()
	return c.Store.Put(ctx, session, item)
}

func (c *closing) Items(ctx context.Context, session string) ([]journal.Item, error) {
	c.op()
	return c.Store.Items(ctx, session)
}

func (c *closing) Remove(ctx context.Context, session string, item journal.Item) error {
	c.op()
	return c.Store.Remove(ctx, session, item)
}

type closingLog struct {
	journal.Log
	c *closing
}

func (l closingLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	l.c.op()
	return l.Log.Append(ctx, at, lines, durable)
}

// loop makes the runs of the session. One whose inbox cannot be read is left.
func (c *closing) loop(leave context.CancelCauseFunc) *loop.Loop {
	type nothing struct{}
	pay := tool.New("pay", "Pays.", func(context.Context, nothing) (string, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.paid++
		return "paid", nil
	}, tool.Approval(policy.Approval{When: policy.ApproveAlways}))
	tools, err := tool.NewSet(pay)
	require.NoError(c.t, err)
	l, err := loop.New(loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		if req.Messages[len(req.Messages)-1].Role == message.Tool {
			return message.Reply{Text: "Paid.", Finish: message.Stop}, nil
		}
		return message.Reply{Calls: []message.Call{{ID: "c1", Name: "pay", Arguments: `{}`}}, Finish: message.ToolUse}, nil
	}), loop.Config{Tools: tools}, loop.WithObserver(observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		if n.Kind == observe.Warned && leave != nil {
			leave(loop.ErrSuspended)
		}
	})))
	require.NoError(c.t, err)
	return l
}

// run begins or resumes the run, and returns how it ended.
func (c *closing) run(ctx context.Context, l *loop.Loop) (loop.Result, error) {
	j, err := journal.Open(context.Background(), c, closed, journal.Settings{})
	if err != nil {
		return loop.Result{}, err
	}
	defer j.Close()
	s, err := session.New(session.Config{ID: closed, Journal: j})
	if err != nil {
		return loop.Result{}, err
	}
	return l.Run(ctx, s, loop.Input{Prompt: "Pay.", RequestID: "r1"})
}

// ask makes the session ask, leaves its run, and returns the question.
func (c *closing) ask() string {
	ctx, leave := context.WithCancelCause(context.Background())
	go func() {
		defer leave(loop.ErrSuspended)
		assert.Eventually(c.t, func() bool { return len(c.asks()) > 0 }, time.Minute, time.Millisecond)
	}()
	_, err := c.run(ctx, c.loop(nil))
	require.ErrorIs(c.t, err, loop.ErrSuspended)
	asks := c.asks()
	require.Len(c.t, asks, 1)
	return asks[0].ID
}

func (c *closing) asks() []machine.Ask {
	f, err := journal.Last(context.Background(), c.Store, closed)
	if err != nil {
		return nil
	}
	return f.State.Asks()
}

// approves returns the answer.
func (c *closing) approves() machine.Response {
	return machine.Response{Question: c.question, Verdict: machine.Approve, At: time.Now()}
}

// ends opens the store again, answers if nobody has, and ends the run: the answer counted once.
func (c *closing) ends() {
	c.mu.Lock()
	if c.left > 0 {
		c.close()
	}
	c.left = 0
	c.mu.Unlock()
	c.open()
	defer c.close()
	ctx := context.Background()
	if err := inbox.Answer(ctx, c, closed, c.approves()); err != nil {
		require.ErrorIs(c.t, err, machine.ErrAnswered)
	}
	require.ErrorIs(c.t, inbox.Answer(ctx, c, closed, c.approves()), machine.ErrAnswered)
	r, err := c.run(ctx, c.loop(nil))
	require.NoError(c.t, err)
	if len(r.InDoubt) == 0 {
		assert.Equal(c.t, 1, c.paid)
	}
	assert.LessOrEqual(c.t, c.paid, 1)
	assert.NotContains(c.t, strings.Join(r.Warnings, "\n"), "inbox")
	items, err := c.Store.Items(ctx, closed)
	require.NoError(c.t, err)
	assert.Empty(c.t, items)
}

// told asserts that an error of a store that was closed says so, as no refusal of an answer.
func (c *closing) told(err error) {
	if err != nil {
		assert.NotErrorIs(c.t, err, machine.ErrAnswered)
		assert.Contains(c.t, err.Error(), closed, "it names the session")
	}
}

func closesWhilePut(t *testing.T, c *closing) {
	err := inbox.Answer(t.Context(), c, closed, c.approves())
	assert.Equal(t, c.left > 0, err == nil)
	c.told(err)
}

func closesWhileTaken(t *testing.T, c *closing) {
	require.NoError(t, inbox.Answer(t.Context(), c.Store, closed, c.approves()))
	ctx, leave := context.WithCancelCause(t.Context())
	_, err := c.run(ctx, c.loop(leave))
	if !errors.Is(err, loop.ErrSuspended) {
		c.told(err)
	}
}

func closesWhileGiven(t *testing.T, c *closing) {
	ctx, leave := context.WithCancelCause(t.Context())
	defer leave(nil)
	l, ended := c.loop(leave), make(chan struct{})
	go func() {
		defer close(ended)
		_, err := c.run(ctx, l)
		if !errors.Is(err, loop.ErrSuspended) {
			c.told(err)
		}
	}()
	for {
		if err := l.Answer(closed, c.approves()); !errors.Is(err, loop.ErrNobodyAsks) {
			if c.told(err); err != nil {
				leave(loop.ErrSuspended)
			}
			<-ended
			return
		}
		select {
		case <-ended: // it was closed before the run asked
			return
		default:
			runtime.Gosched()
		}
	}
}
