//go:build temporal

package temporal_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/proto"

	"github.com/retake-go/retake/adapter/temporal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// TestWhatItCosts logs the numbers of docs/benchmarks.md: sessions without waits, with models and tools
// that take no time.
func TestWhatItCosts(t *testing.T) {
	c := newServer(t).dial()
	questions, err := corpus(corpusFile(), sessions())
	require.NoError(t, err)
	cfg := loop.Config{Seed: "cost"}
	decisions, began := 0, time.Now()
	for _, q := range questions {
		decisions += q.decisions(t, cfg)
	}
	once := time.Since(began)
	t.Logf("in process: %d sessions, %d decisions in %v: %.0f a second", len(questions), decisions, once, float64(decisions)/once.Seconds())

	w := worker.New(c, queue, worker.Options{MaxConcurrentWorkflowTaskPollers: 4, MaxConcurrentActivityTaskPollers: 4})
	for _, q := range questions {
		own, err := q.worker(nil)
		require.NoError(t, err)
		require.NoError(t, temporal.Register(w, own))
	}
	require.NoError(t, w.Start())
	defer w.Stop()
	handles := make([]*temporal.Handle, len(questions))
	before := cpu(t)
	began = time.Now()
	for n, q := range questions {
		handles[n], err = temporal.Start(t.Context(), c, temporal.Options{ID: q.ID, TaskQueue: queue, Agent: q.agent()}, loop.Input{Prompt: q.prompt()}, cfg)
		require.NoError(t, err)
	}
	attempts := 0
	for _, h := range handles {
		attempts += attemptsOf(t, h)
	}
	took := time.Since(began)
	used := cpu(t) - before
	require.Equal(t, decisions, attempts)
	events, size := 0, 0
	for _, h := range handles {
		histories, err := temporal.Histories(t.Context(), c, h.ID())
		require.NoError(t, err)
		for _, one := range histories {
			events += len(one.Events)
			size += proto.Size(one)
		}
	}
	t.Logf("on Temporal: %d decisions in %v: %.0f a second on one worker; %.1f events and %d bytes of history a decision, %.1f and %d a session",
		attempts, took, float64(attempts)/took.Seconds(), float64(events)/float64(attempts), size/attempts,
		float64(events)/float64(len(questions)), size/len(questions))
	t.Logf("the worker and its client used %v of processor: %.0f decisions a second of it", used, float64(attempts)/used.Seconds())
	began = time.Now()
	for _, h := range handles {
		histories, err := temporal.Histories(t.Context(), c, h.ID())
		require.NoError(t, err)
		require.NoError(t, temporal.Export{}.Replay(histories))
	}
	t.Logf("replaying all: %v", time.Since(began))
}

// cpu is the CPU time of this process.
func cpu(t *testing.T) time.Duration {
	var r syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func attemptsOf(t *testing.T, h *temporal.Handle) int {
	r, err := h.Result(t.Context())
	if e, ok := errors.AsType[*loop.RetryExhaustedError](err); ok {
		require.NotEqual(t, policy.ReasonCancelled, e.Reason)
		return len(e.Attempts)
	}
	require.NoError(t, err)
	return len(r.Attempts)
}

// decisions is the number of decisions of the question's run in process.
func (q question) decisions(t *testing.T, cfg loop.Config) int {
	w, err := q.worker(nil)
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: q.ID})
	require.NoError(t, err)
	cfg.Tools = w.Tools
	l, err := loop.New(w.Model, cfg)
	require.NoError(t, err)
	_, err = l.Run(context.Background(), s, loop.Input{Prompt: q.prompt()})
	if _, ok := errors.AsType[*loop.RetryExhaustedError](err); !ok {
		require.NoError(t, err)
	}
	return s.State().AttemptCount()
}
