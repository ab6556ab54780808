package journaltest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// payments is how many calls the model of [Drive] makes.
const payments = 5

// Drive takes a session's run one step further in a store, as one of several racing processes. It begins or
// resumes the run and leaves it after the next tool call. The run makes one payment per call, of 1 to 5.
// effect is called before each model and tool call, with a text unique to that call. Drive returns true once
// the run has ended, also if another process ended it, and an error of [journal.ErrConflict] if another
// process has the journal.
func Drive(s journal.Store, id string, effect func(what string)) (ended bool, err error) {
	j, err := journal.Open(context.Background(), s, id, journal.Settings{Sync: journal.SyncNever})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	held, err := session.New(session.Config{Journal: j})
	if err != nil {
		return false, err
	}
	ctx, leave := context.WithCancelCause(context.Background())
	defer leave(nil)
	type payment struct {
		Amount int `json:"amount"`
	}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, p payment) (string, error) {
		effect(fmt.Sprint("pay ", p.Amount))
		leave(loop.ErrSuspended)
		return "paid", nil
	}))
	if err != nil {
		return false, err
	}
	l, err := loop.New(payer(effect), loop.Config{Tools: tools})
	if err != nil {
		return false, err
	}
	past, err := j.Past()
	switch {
	case err != nil:
		return false, err
	case past.Header.Format == "":
		_, err = l.Run(ctx, held, loop.Input{Prompt: "Pay."})
	case j.Unfinished():
		_, err = l.Resume(ctx, held)
	}
	if errors.Is(err, loop.ErrSuspended) {
		return false, nil
	}
	return err == nil, err
}

// payer returns a model that asks for one payment after another.
func payer(effect func(string)) loop.ModelFunc {
	return func(_ context.Context, req loop.Request) (message.Reply, error) {
		paid := 0
		for _, m := range req.Messages {
			if m.Role == message.Tool {
				paid++
			}
		}
		effect(fmt.Sprint("ask ", paid+1))
		if paid == payments {
			return message.Reply{Text: "All paid.", Finish: message.Stop}, nil
		}
		arguments := fmt.Sprintf(`{"amount":%d}`, paid+1)
		return message.Reply{Calls: []message.Call{{ID: fmt.Sprint("c", paid+1), Name: "pay",
			Arguments: arguments}}, Finish: message.ToolUse}, nil
	}
}

// Effects returns all texts that [Drive] passes to effect in a run, in order.
func Effects() []string {
	var all []string
	for n := range payments {
		all = append(all, fmt.Sprint("ask ", n+1), fmt.Sprint("pay ", n+1))
	}
	return append(all, fmt.Sprint("ask ", payments+1))
}

func testRace(t *testing.T, s journal.Store) {
	const racers = 8
	var mu sync.Mutex
	var done []string
	var wg sync.WaitGroup
	for range racers {
		wg.Go(func() {
			for ended := false; !ended; runtime.Gosched() {
				var err error
				ended, err = Drive(s, "order-42", func(what string) {
					mu.Lock()
					defer mu.Unlock()
					done = append(done, what)
				})
				if err != nil && !assert.ErrorIs(t, err, journal.ErrConflict) {
					return
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, Effects(), done, "each effect is done once, in order")
}

// Leases tests stores with leased journals. Each call of fresh returns a new, empty store, and a function
// that lets all leases expire that are not renewed afterwards.
func Leases(t *testing.T, fresh func(t *testing.T) (s journal.Store, expire func())) {
	t.Helper()
	t.Run("an_owner_that_was_not_heard_of_is_superseded", func(t *testing.T) {
		s, expire := fresh(t)
		first := open(t, s, "order-42")
		require.NoError(t, first.Append(t.Context(), 0, []byte("one\n"), false))
		expire()
		second := open(t, s, "order-42")
		require.ErrorIs(t, first.Append(t.Context(), 4, []byte("2\n"), false), journal.ErrConflict)
		require.ErrorIs(t, first.Replace(t.Context(), 4, []byte("2\n")), journal.ErrConflict)
		require.NoError(t, first.Close())
		_, err := s.Open(t.Context(), "order-42")
		require.ErrorIs(t, err, journal.ErrConflict, "it cannot let go what it does not hold any more")
		require.NoError(t, second.Append(t.Context(), 4, []byte("two\n"), false))
		assert.Equal(t, "one\ntwo\n", read(t, second), "what was refused leaves no trace")
	})
	t.Run("an_owner_that_nobody_has_superseded_goes_on", func(t *testing.T) {
		s, expire := fresh(t)
		first := open(t, s, "order-42")
		expire()
		require.NoError(t, first.Append(t.Context(), 0, []byte("one\n"), false))
		_, err := s.Open(t.Context(), "order-42")
		require.ErrorIs(t, err, journal.ErrConflict, "the append has renewed the lease")
	})
	t.Run("a_number_is_given_once", func(t *testing.T) {
		s, expire := fresh(t)
		first := open(t, s, "order-42")
		expire()
		require.NoError(t, open(t, s, "order-42").Close())
		require.ErrorIs(t, first.Append(t.Context(), 0, []byte("one\n"), false), journal.ErrConflict)
	})
}
