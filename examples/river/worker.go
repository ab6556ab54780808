package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Order is a job: one step of a session, which is the order's.
type Order struct {
	Session string `json:"session"`
}

// Kind names the jobs.
func (Order) Kind() string { return "order" }

// worker does jobs. The queue may give out a job twice, or to two at once: the journal's lease lets one of
// them have the session, and the journal knows what was done.
type worker struct {
	river.WorkerDefaults[Order]
	store *postgres.Store
	loop  *loop.Loop
}

// leaving is the key of the function that ends a step.
type leaving struct{}

func newWorker(store *postgres.Store, b bank) (*worker, error) {
	tools, err := tool.NewSet(tool.New("pay", "Pays a sum.", b.pay, tool.Idempotent()))
	if err != nil {
		return nil, err
	}
	// A step ends with a reply, or where the run would wait: the journal knows what is next, and the queue
	// when.
	step := observe.ObserverFunc(func(ctx context.Context, n observe.Notice) {
		if n.Kind == observe.AttemptEnded || n.Kind == observe.Retrying && n.Delay > 0 {
			ctx.Value(leaving{}).(context.CancelCauseFunc)(loop.ErrSuspended)
		}
	})
	l, err := loop.New(loop.ModelFunc(payer), loop.Config{Tools: tools}, loop.WithObserver(step))
	return &worker{store: store, loop: l}, err
}

// Work implements [river.Worker].
func (w *worker) Work(ctx context.Context, job *river.Job[Order]) error {
	id := job.Args.Session
	err := w.step(ctx, id)
	held, isHeld := errors.AsType[*journal.ConflictError](err)
	_, isExhausted := errors.AsType[*loop.RetryExhaustedError](err)
	switch {
	case isHeld: // by a process that works on it, or that died
		return river.JobSnooze(max(0, time.Until(held.Until)))
	case errors.Is(err, loop.ErrSuspended):
		next, err := w.next(ctx, id)
		if err != nil {
			return err
		}
		fmt.Println("step", id)
		return river.JobSnooze(max(0, time.Until(next)))
	case isExhausted:
		err = river.JobCancel(err) // the run has ended, and another job of it would find that end
	case err != nil:
		return err // of the database: the queue tries again later
	}
	fmt.Println("done", id)
	return err
}

// step takes a session's run one step further: it begins the run, or goes on with it.
func (w *worker) step(ctx context.Context, id string) (err error) {
	// A job that is cancelled or out of time leaves its run to the next one. Any other cause would end the
	// run.
	jobs := ctx
	ctx, leave := context.WithCancelCause(context.WithoutCancel(jobs))
	defer leave(nil)
	defer context.AfterFunc(jobs, func() { leave(loop.ErrSuspended) })()
	j, err := journal.Open(ctx, w.store, id, journal.Settings{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	s, err := session.New(session.Config{Journal: j})
	if err != nil {
		return err
	}
	ctx = context.WithValue(ctx, leaving{}, leave)
	_, err = w.loop.Run(ctx, s, loop.Input{Prompt: "Pay what is due.", RequestID: "pay"})
	return err
}

// next is when a session has something to do: the end of its wait, or the zero time.
func (w *worker) next(ctx context.Context, id string) (time.Time, error) {
	run, err := journal.Last(ctx, w.store, id)
	return run.Summary(true, time.Now()).Until, err
}

// work does jobs until the context ends. name is that of the process: a process that is started in the place
// of one that died takes up its jobs.
func work(ctx context.Context, url, name string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := postgres.New(ctx, pool, postgres.Settings{Lease: 2 * time.Second})
	if err != nil {
		return err
	}
	defer store.Close()
	w, err := newWorker(store, bank{pool})
	if err != nil {
		return err
	}
	// River gives the jobs of a dead process to others only after RescueStuckJobsAfter.
	const takeUp = `UPDATE river_job SET state = 'available' WHERE state = 'running' AND attempted_by[cardinality(attempted_by)] = $1`
	if _, err := pool.Exec(ctx, takeUp, name); err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		ID: name, Workers: workers, Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 20}},
		FetchPollInterval: 100 * time.Millisecond, JobTimeout: time.Minute, RescueStuckJobsAfter: 2 * time.Minute,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	<-client.Stopped()
	return nil
}
