//go:build unix

package loop_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/internal/race"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// fewFiles is the most descriptors that the process of the test of many sessions may have.
const fewFiles = 64

// manyAsking is how many sessions ask at once.
func manyAsking() int {
	if testing.Short() {
		return 200
	}
	return 5000
}

// payingModel asks for a payment to the session that it is asked for.
func payingModel(_ context.Context, r loop.Request) (message.Reply, error) {
	if last := r.Messages[len(r.Messages)-1]; last.Role == message.Tool {
		return message.Reply{Text: "Done.", Finish: message.Stop}, nil
	}
	return message.Reply{Finish: message.ToolUse, Calls: []message.Call{
		{ID: "c1", Name: "pay", Arguments: fmt.Sprintf(`{"to":%q,"amount":500}`, r.Session)},
	}}, nil
}

// askingPool has many sessions, each with a journal in a folder, that ask a person whether to pay. pay is
// called for each payment.
func askingPool(t *testing.T, dir string, pay func(to string)) *loop.Pool {
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, a transfer) (transferred, error) {
		pay(a.To)
		return transferred{a.Amount}, nil
	}, tool.NeedsApproval(func(transfer) bool { return true })))
	require.NoError(t, err)
	p, err := loop.NewPool(loop.PoolConfig{
		Model: loop.ModelFunc(payingModel), Config: loop.Config{Tools: tools}, Done: func(s *session.Session, _ loop.Result, err error) {
			fmt.Println("ended", s.ID(), err)
		},
	})
	require.NoError(t, err)
	for n := range manyAsking() {
		j, err := journal.Open(t.Context(), journal.Dir(dir), fmt.Sprintf("order-%04d", n), journal.Settings{Sync: journal.SyncNever})
		require.NoError(t, err)
		_, err = p.Add(fixture.In(nil, j), loop.Input{Prompt: "Pay."})
		require.NoError(t, err)
		p.Due(time.Now())
	}
	return p
}

// TestTheProcessOfManyWhoAsk is the other process of TestASessionThatAsksKeepsNoFileOpen.
func TestTheProcessOfManyWhoAsk(t *testing.T) {
	dir := os.Getenv("RETAKE_MANY_ASK")
	if dir == "" {
		t.Skip("it is started by another test")
	}
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: fewFiles, Max: fewFiles}))
	p := askingPool(t, dir, func(to string) { fmt.Println("paid", to) })
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		assert.Less(t, len(open), 20, "descriptors are open while all wait")
	}
	fmt.Println("all wait")
	_ = p.Serve(t.Context(), 2)
}

// Many sessions wait for people in a process that may have few files open. An answer from another process
// reaches its session, and after the death of the process the others ask on.
func TestASessionThatAsksKeepsNoFileOpen(t *testing.T) {
	dir := t.TempDir()
	start := func() (*exec.Cmd, func(prefix string) string) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheProcessOfManyWhoAsk$", fmt.Sprint("-test.short=", testing.Short()))
		cmd.Env, cmd.Stderr = append(os.Environ(), "RETAKE_MANY_ASK="+dir), os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		said := bufio.NewScanner(out)
		return cmd, func(prefix string) string {
			for said.Scan() {
				if strings.HasPrefix(said.Text(), prefix) {
					return said.Text()
				}
				require.False(t, strings.HasPrefix(said.Text(), "paid"), "nobody answered: %s", said.Text())
			}
			t.Fatalf("the process has not said %q", prefix)
			return ""
		}
	}
	answer := func(id string) {
		asked, err := inbox.PendingOf(t.Context(), journal.Dir(dir), id, time.Now())
		require.NoError(t, err)
		require.Len(t, asked, 1)
		require.NoError(t, inbox.Answer(t.Context(), journal.Dir(dir), id,
			machine.Response{Question: asked[0].ID, Verdict: machine.Approve, By: "bob", At: time.Now()}))
	}
	for _, id := range []string{"order-0007", "order-0042"} {
		cmd, next := start()
		next("all wait")
		answer(id)
		assert.Equal(t, "paid "+id, next("paid"))
		assert.Equal(t, "ended "+id+" <nil>", next("ended"))
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
	}
	asking := 0
	for q, err := range inbox.Pending(t.Context(), journal.Dir(dir), time.Now()) {
		require.NoError(t, err)
		asking++
		assert.NotContains(t, []string{"order-0007", "order-0042"}, q.Session)
	}
	assert.Equal(t, manyAsking()-2, asking)
}

// soon returns what comes within an hour.
func soon(t *testing.T, ended <-chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(time.Hour):
		require.Fail(t, "it waits for ever")
		return nil
	}
}

// leased is a store whose leases end when a test says so.
type leased struct {
	looptest.Store
	logs []journal.Log
}

func (l *leased) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := l.Store.Open(ctx, session)
	l.logs = append(l.logs, log)
	return log, err
}

func (l *leased) open(t *testing.T) (*session.Session, *journal.Journal) {
	j, err := journal.Open(t.Context(), l, "order-42", journal.Settings{})
	require.NoError(t, err)
	return fixture.In(newSession(t), j), j
}

// A run that waits for a person loses its journal with its lease. It does not wait for an answer that another
// has taken.
func TestARunThatAsksAndHasLostItsLeaseEnds(t *testing.T) {
	for name, pooled := range map[string]bool{"run": false, "pool": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made payments
				store := new(leased)
				s, first := store.open(t)
				model := looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`))
				l, err := loop.New(model, made.config(t))
				require.NoError(t, err)
				run := l.Run
				if pooled {
					p := poolOf(t, made.config(t), model)
					serves(t, p)
					run = p.Await
				}
				ended := make(chan error, 1)
				go func() {
					_, err := run(context.Background(), s, loop.Input{Prompt: "Pay Ann."})
					ended <- err
				}()
				synctest.Wait()
				require.NoError(t, store.logs[0].Close())

				s, second := store.open(t)
				l, err = loop.New(looptest.NewModel(looptest.Say("Paid.")), made.config(t))
				require.NoError(t, err)
				asked, err := inbox.PendingOf(t.Context(), store, "order-42", time.Now())
				require.NoError(t, err)
				require.Len(t, asked, 1)
				taken := make(chan error, 1)
				go func() {
					_, err := l.Resume(context.Background(), s)
					taken <- err
				}()
				synctest.Wait()
				require.NoError(t, l.Answer("order-42", machine.Response{Question: asked[0].ID, Verdict: machine.Approve}))
				require.NoError(t, <-taken)
				require.ErrorIs(t, soon(t, ended), journal.ErrConflict)
				require.NoError(t, second.Close())
				require.NoError(t, first.Close())
				assert.Len(t, made.calls, 1)
			})
		})
	}
}

// While a session of a pool waits, another writer may take it over. Then the pool loses it, and says so. What
// is in the inbox is left to the other.
func TestASessionThatWaitsCanBeTakenOver(t *testing.T) {
	for name, wakes := range map[string]func(*testing.T, *loop.Pool, journal.Dir, string) error{
		"it is answered": func(_ *testing.T, p *loop.Pool, _ journal.Dir, question string) error {
			return p.Answer("order-42", machine.Response{Question: question, Verdict: machine.Approve})
		},
		"an answer is in the inbox": func(t *testing.T, _ *loop.Pool, dir journal.Dir, question string) error {
			at := time.Now()
			require.NoError(t, dir.Put(t.Context(), "order-42", journal.Item{Kind: journal.AnswerItem, Key: "x", Body: []byte("{}"), At: at}))
			return nil
		},
		"nothing wakes it": func(*testing.T, *loop.Pool, journal.Dir, string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made payments
				dir := journal.Dir(t.TempDir())
				j := recorded(t, dir)
				pool, ends := pooled(t, loop.PoolConfig{Model: looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`)), Config: made.config(t)})
				_, err := pool.Add(fixture.In(newSession(t), j), loop.Input{Prompt: "Pay Ann."})
				require.NoError(t, err)
				done := make(chan error, 1)
				go func() { done <- pool.Run(t.Context(), 2) }()
				synctest.Wait()
				question := asks(t, dir, journal.Settings{})[0].ID

				l, err := loop.New(looptest.NewModel(looptest.Say("Paid.")), made.config(t))
				require.NoError(t, err)
				taken := make(chan error, 1)
				other := recorded(t, dir)
				go func() {
					_, err := l.Resume(t.Context(), fixture.In(newSession(t), other))
					taken <- err
				}()
				synctest.Wait()
				require.NoError(t, l.Answer("order-42", machine.Response{Question: question, Verdict: machine.Approve}))
				require.NoError(t, <-taken)
				require.NoError(t, other.Close())

				if err := wakes(t, pool, dir, question); err != nil {
					require.ErrorIs(t, err, journal.ErrConflict)
				}
				require.NoError(t, soon(t, done))
				require.Len(t, ends(), 1)
				require.ErrorIs(t, ends()[0].err, journal.ErrConflict)
				require.NoError(t, j.Close())
				assert.Len(t, made.calls, 1)
				_, err = journal.Replay(strings.NewReader(lines(t, dir)), nil)
				require.NoError(t, err)
				if name == "an answer is in the inbox" {
					left, err := dir.Items(t.Context(), "order-42")
					require.NoError(t, err)
					assert.Len(t, left, 1)
				}
			})
		})
	}
}

// An operator may compact the journals of a folder at any time: a session of a pool that waits goes on, and
// so does the next run of one whose run has ended.
func TestASessionThatWaitsMayBeCompacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		dir := journal.Dir(t.TempDir())
		compact := func() { require.NoError(t, journal.Compact(t.Context(), dir, "order-42", nil)) }
		j := recorded(t, dir)
		model := looptest.NewModel(payCall("c1", `{"to":"Ann","amount":500}`), looptest.Say("Paid."), looptest.Say("Ann."))
		pool, ends := pooled(t, loop.PoolConfig{Model: model, Config: made.config(t)})
		s := fixture.In(newSession(t), j)
		_, err := pool.Add(s, loop.Input{Prompt: "Pay Ann."})
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- pool.Run(t.Context(), 2) }()
		synctest.Wait()
		question := asks(t, dir, journal.Settings{})[0].ID
		compact()
		require.NoError(t, pool.Answer("order-42", machine.Response{Question: question, Verdict: machine.Approve}))
		require.NoError(t, soon(t, done))
		compact()
		_, err = pool.Add(s, loop.Input{Prompt: "Who was paid?"})
		require.NoError(t, err)
		require.NoError(t, pool.Run(t.Context(), 1))
		require.NoError(t, j.Close())
		require.Len(t, ends(), 2)
		assert.NoError(t, ends()[0].err)
		assert.NoError(t, ends()[1].err)
		assert.Equal(t, "Ann.", ends()[1].result.Text)
		assert.Len(t, made.calls, 1)
		_, err = journal.Replay(strings.NewReader(lines(t, dir)), nil)
		require.NoError(t, err)
	})
}

// Very many runs wait for people at the same time, without a journal. None goes on before it is answered.
func TestARunThatAsksIsSmall(t *testing.T) {
	const n, most = 5000, 2600
	paid, ended := 0, 0
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, a transfer) (transferred, error) {
		paid++
		return transferred{a.Amount}, nil
	}, tool.NeedsApproval(func(transfer) bool { return true })))
	require.NoError(t, err)
	newPool := func() *loop.Pool {
		p, err := loop.NewPool(loop.PoolConfig{
			Model: loop.ModelFunc(payingModel), Config: loop.Config{Tools: tools}, Done: func(_ *session.Session, _ loop.Result, err error) {
				assert.NoError(t, err)
				ended++
			},
		})
		require.NoError(t, err)
		return p
	}
	ask := func(p *loop.Pool, n int) {
		for i := range n {
			_, err := p.Add(newSessionNamed(t, "order-"+strconv.Itoa(i)), loop.Input{Prompt: "Pay."})
			require.NoError(t, err)
		}
		require.Equal(t, n, p.Due(time.Now()))
	}
	ask(newPool(), 1) // what all runs of a program share is made by the first
	p := newPool()
	before := held()
	ask(p, n)
	if each := (held() - before) / n; !race.Enabled {
		assert.LessOrEqual(t, each, uint64(most))
	}
	assert.Zero(t, p.Due(time.Now().AddDate(10, 0, 0)), "nobody has answered")

	parked := p.Close()
	require.Len(t, parked, n)
	p = newPool()
	one := parked[7]
	require.Equal(t, one.State.Asks(), one.Asked.Asks)
	_, err = p.AddParked(one)
	require.NoError(t, err)
	require.Equal(t, 1, p.Due(time.Now()))
	require.NoError(t, p.Answer(one.Session.ID(), machine.Response{Question: one.Asked.Asks[0].ID, Verdict: machine.Approve}))
	p.Due(time.Now())
	assert.Equal(t, []int{1, 1}, []int{paid, ended})
}
