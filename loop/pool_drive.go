package loop

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/retake-go/retake/internal/after"
)

// drive is one call of [Pool.Run] or [Pool.Serve].
type drive struct {
	pool *Pool
	ctx  context.Context
	// stays reports that it continues without runs.
	stays bool
	// lead is full while a worker waits for the next run. The other workers work, or wait to lead. It guards
	// the fields below.
	lead chan struct{}
	over bool
	err  error
	// waits are what the pool's clock was asked for.
	waits after.Pending
	all   sync.WaitGroup
}

// drive drives the pool. stays means that it continues without runs.
func (p *Pool) drive(ctx context.Context, workers int, stays bool) error {
	if workers < 1 {
		return fmt.Errorf("loop: %d workers: give 1 or more", workers)
	}
	if ctx == nil {
		return errNoContext
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(p.life, func() { end(ErrPoolClosed) })()
	p.drives.Add(1)
	defer p.drives.Add(-1)
	defer every(p.look)()
	d := &drive{pool: p, ctx: ctx, stays: stays, lead: make(chan struct{}, 1)}
	for range workers {
		d.all.Go(d.worker)
	}
	d.all.Wait()
	return d.err
}

// worker continues the runs that are due. If a run ends the goroutine, another worker replaces it.
func (d *drive) worker() {
	over := false
	defer func() {
		if !over {
			d.all.Go(d.worker)
		}
	}()
	for t := d.next(); t != nil; t = d.next() {
		t.work(d.ctx, t.waited())
	}
	over = true
}

// next waits until a run is due and takes it. It returns nil if the drive is over.
func (d *drive) next() *PoolRun {
	d.lead <- struct{}{}
	defer func() { <-d.lead }()
	for !d.over {
		t, due, changed := d.look()
		if t != nil {
			return t
		}
		if !d.over {
			d.pause(due, changed)
		}
	}
	return nil
}

// look takes a run that is due, or records that the drive is over. Otherwise it returns when the next
// run is due, zero if there is none, and a channel that is closed when that may have changed.
func (d *drive) look() (t *PoolRun, due time.Time, changed <-chan struct{}) {
	p, now := d.pool, d.pool.time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case d.ctx.Err() != nil:
		d.over, d.err = true, context.Cause(d.ctx)
		return nil, due, nil
	case p.closed:
		d.over, d.err = true, ErrPoolClosed
		return nil, due, nil
	}
	if t = p.take(now); t != nil {
		return t, due, nil
	}
	if waits := p.queue.waits; len(waits) > 0 {
		if due = waits[0].until; due.Equal(forever) {
			due = time.Time{}
		}
		return nil, due, p.change()
	}
	d.over = p.working == 0 && !d.stays
	return nil, due, p.change()
}

// pause waits for a change, or until a time; zero means without limit.
func (d *drive) pause(due time.Time, changed <-chan struct{}) {
	var next after.After
	if !due.IsZero() {
		next = d.waits.Until(due, d.pool.time)
	}
	select {
	case <-d.ctx.Done():
	case <-changed:
	case <-next.Fired:
		d.waits.Fired(next)
		d.pool.time.Reached(next.At)
	}
}
