package stack_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/stack"
)

type caller struct{ n int }

// call calls f below some frames of its own.
func (c *caller) call(depth int, f func()) {
	if depth == 0 {
		f()
		return
	}
	c.call(depth-1, f)
}

func other(f func()) { f() }

func TestAFunctionIsOnTheStackWhileItIsCalled(t *testing.T) {
	c := &caller{}
	has := func() bool { return stack.Has((*caller).call) }
	assert.False(t, has())
	other(func() { assert.False(t, has()) })
	for _, depth := range []int{0, 1, 63, 64, 200} {
		c.call(depth, func() { assert.True(t, has(), depth) })
		c.call(depth, func() {
			other(func() { assert.True(t, has(), depth) })
			over := make(chan bool)
			go func() { over <- has() }()
			assert.False(t, <-over, "it is another goroutine")
		})
	}
	assert.False(t, has())
}

//go:noinline
func (c *caller) holds(depth int, f func()) {
	if depth == 0 {
		f()
	} else {
		c.holds(depth-1, f)
	}
	stack.Keep(c)
}

func TestACallIsHeldByItsReceiver(t *testing.T) {
	one, two := &caller{1}, &caller{2}
	held := func(c *caller) bool { return stack.Holds((*caller).holds, c) }
	assert.False(t, held(one))
	for _, depth := range []int{0, 1, 20} {
		one.holds(depth, func() {
			assert.True(t, held(one), depth)
			assert.False(t, held(two), depth)
			two.holds(depth, func() {
				assert.True(t, held(one), depth)
				assert.True(t, held(two), depth)
			})
			over := make(chan bool)
			go func() { over <- held(one) }()
			assert.False(t, <-over, "it is another goroutine")
		})
	}
	one.holds(300, func() { assert.True(t, held(two), "below frames that the runtime does not print, any may hold") })
	assert.False(t, held(one))
}
