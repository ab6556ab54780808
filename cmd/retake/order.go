package main

import (
	"iter"
	"runtime"
	"sync"
)

// inOrder does work on items, on as many at once as there are processors, and hands the results to use one
// after the other, in the order of the items. It ends at the first error in that order. What is waiting at
// any time is bounded.
func inOrder[I, O any](items iter.Seq2[I, error], work func(I) (O, error), use func(O) error) error {
	workers := runtime.GOMAXPROCS(0)
	jobs, waiting, stop := make(chan job[I, O]), make(chan chan worked[O], 2*workers), make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() { handOut(items, jobs, waiting, stop) })
	for range workers {
		running.Go(func() {
			for j := range jobs {
				value, err := work(j.item)
				j.done <- worked[O]{value, err}
			}
		})
	}
	defer running.Wait()
	defer close(stop)
	for done := range waiting {
		r := <-done
		if r.err == nil {
			r.err = use(r.value)
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// job is an item that is worked on, and where what comes of it is sent to.
type job[I, O any] struct {
	item I
	done chan worked[O]
}

// worked is what came of an item.
type worked[O any] struct {
	value O
	err   error
}

// handOut gives each item to a worker, and where its result will be to whoever waits, up to the first error.
func handOut[I, O any](items iter.Seq2[I, error], jobs chan<- job[I, O], waiting chan<- chan worked[O], stop <-chan struct{}) {
	defer close(waiting)
	defer close(jobs)
	for item, err := range items {
		done := make(chan worked[O], 1)
		if err != nil {
			done <- worked[O]{err: err}
		}
		if !send(waiting, done, stop) || err != nil || !send(jobs, job[I, O]{item, done}, stop) {
			return
		}
	}
}

// send sends v, and reports whether it did so before stop was closed.
func send[T any](to chan<- T, v T, stop <-chan struct{}) bool {
	select {
	case to <- v:
		return true
	case <-stop:
		return false
	}
}
