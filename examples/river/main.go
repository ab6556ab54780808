// Command river runs sessions as jobs of River, a queue in PostgreSQL, over several processes that are killed
// now and then. Their journals are in the same database. Each payment is made once. See README.md.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/retake-go/retake/loop"
)

// The environment of the processes.
const (
	envURL    = "DATABASE_URL"
	envWorker = "RIVER_WORKER"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

func run() error {
	url := os.Getenv(envURL)
	if name := os.Getenv(envWorker); name != "" {
		ctx, stop := loop.NotifyShutdown(context.Background(), os.Interrupt)
		defer stop()
		return work(ctx, url, name)
	}
	f := fleet{url: url, done: map[string]bool{}}
	flag.IntVar(&f.sessions, "sessions", 1000, "the number of sessions")
	flag.IntVar(&f.processes, "processes", 4, "the number of processes")
	flag.IntVar(&f.kills, "kills", 20, "how many processes are killed")
	flag.Parse()
	if url == "" {
		return errors.New("DATABASE_URL is empty: give a database, such as postgres://localhost/test")
	}
	if err := f.run(context.Background()); err != nil {
		return err
	}
	return f.account(context.Background(), os.Stdout)
}

// fleet are processes that do the jobs of sessions.
type fleet struct {
	url                        string
	sessions, processes, kills int

	mu sync.Mutex
	// killed counts the processes that were killed. done has the sessions that have ended; steps counts all
	// jobs.
	killed, steps int
	done          map[string]bool
	// ended ends all processes.
	ended context.CancelFunc
}

// run makes a job for each session, and processes until all sessions have ended.
func (f *fleet) run(ctx context.Context) error {
	if err := f.enqueue(ctx); err != nil {
		return err
	}
	ctx, f.ended = context.WithCancel(ctx)
	defer f.ended()
	errs := make([]error, f.processes)
	var all sync.WaitGroup
	for n := range errs {
		all.Go(func() {
			for errs[n] == nil && ctx.Err() == nil {
				errs[n] = f.process(ctx, fmt.Sprint("worker-", n))
			}
			f.ended() // also for the others, after an error
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// enqueue makes the tables, and a job for each session.
func (f *fleet) enqueue(ctx context.Context) error {
	pool, err := pgxpool.New(ctx, f.url)
	if err != nil {
		return err
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, bankTable); err != nil {
		return err
	}
	client, err := river.NewClient(driver, &river.Config{})
	if err != nil {
		return err
	}
	jobs := make([]river.InsertManyParams, f.sessions)
	for n := range jobs {
		jobs[n].Args = Order{Session: fmt.Sprint("order-", n)}
	}
	_, err = client.InsertMany(ctx, jobs)
	return err
}

// process runs one process until all sessions have ended, or until it is killed after a few jobs.
func (f *fleet) process(ctx context.Context, name string) error {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), envURL+"="+f.url, envWorker+"="+name)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	killed := false
	after := 1 + rand.IntN(1+2*f.sessions/(f.kills+1)) // lines; a session has about three
	for lines := bufio.NewScanner(out); lines.Scan(); after-- {
		if f.saw(lines.Text()) && after <= 0 && !killed && f.mayKill() {
			killed = true
			err = errors.Join(err, cmd.Process.Kill())
		}
	}
	if ended := cmd.Wait(); !killed && ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("%s ended: %w", name, ended))
	}
	return err
}

// saw takes a line of a process.
func (f *fleet) saw(line string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	what, id, ok := strings.Cut(line, " ")
	f.steps++
	if what == "done" {
		f.done[id] = true
	}
	if len(f.done) == f.sessions {
		f.ended()
	}
	return ok
}

// mayKill reports whether one more process is to be killed.
func (f *fleet) mayKill() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed == f.kills || len(f.done) == f.sessions {
		return false
	}
	f.killed++
	return true
}

// account says what the bank has.
func (f *fleet) account(ctx context.Context, out *os.File) error {
	conn, err := pgx.Connect(ctx, f.url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var payments, different, twice int
	err = conn.QueryRow(ctx, `SELECT count(*), count(DISTINCT (session, receiver)), count(*) FILTER (WHERE asked > 1) FROM payment`).
		Scan(&payments, &different, &twice)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d sessions, %d jobs, %d processes killed\n", len(f.done), f.steps, f.killed)
	fmt.Fprintf(out, "%d payments, %d different ones; %d were asked for again, and the bank knew their keys\n", payments, different, twice)
	return nil
}
