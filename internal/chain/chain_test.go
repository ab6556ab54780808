package chain_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/chain"
)

// of is an error of the work of one tool.
type of struct {
	tool string
	err  error
}

func (e of) Error() string           { return e.tool + ": " + e.err.Error() }
func (e of) Unwrap() error           { return e.err }
func (e of) Sealed(tool string) bool { return tool != e.tool }

// endless wraps itself.
type endless struct{}

func (e endless) Error() string { return "endless" }
func (e endless) Unwrap() error { return e }

func TestWhatIsSealedIsNotATools(t *testing.T) {
	within := of{"pay", fmt.Errorf("read: %w", io.EOF)}
	both := errors.Join(errors.New("first"), within)
	assert.True(t, chain.OwnIs("pay", both, io.EOF))
	assert.False(t, chain.OwnIs("book", both, io.EOF), "it is the word of another tool")
	assert.True(t, errors.Is(both, io.EOF))
	assert.True(t, chain.OwnIs("book", errors.Join(both, io.EOF), io.EOF), "beside it, it is said again")

	own, found := chain.Own[of]("book", both)
	assert.True(t, found)
	assert.Equal(t, "pay", own.tool, "the seal itself is seen")
	_, found = chain.Own[of]("book", io.EOF)
	assert.False(t, found)
	assert.True(t, chain.Sealed("book", within))
	assert.False(t, chain.Sealed("book", both))
}

// circle wraps itself among others.
type circle struct{}

func (e circle) Error() string   { return "circle" }
func (e circle) Unwrap() []error { return []error{io.EOF, e, e} }

// long is an error at the end of a chain of n others.
func long(n int, err error) error {
	for range n {
		err = fmt.Errorf("on: %w", err)
	}
	return err
}

func TestNoChainHangs(t *testing.T) {
	for name, err := range map[string]error{"alone": endless{}, "among others": circle{}, "below": long(3, circle{})} {
		looked := 0
		assert.False(t, chain.Has(err, func(error) bool { looked++; return false }), name)
		assert.Equal(t, 256, looked, name)
		_, found := chain.Own[*fs.PathError]("pay", err)
		assert.False(t, found, name)
		assert.False(t, chain.OwnIs("pay", err, io.ErrUnexpectedEOF), name)
	}
}

// What comes in from other code is bounded: the standard library never returns from an error that wraps
// itself.
func TestABoundedErrorEnds(t *testing.T) {
	for name, err := range map[string]error{"alone": endless{}, "among others": circle{}, "below": long(3, circle{})} {
		b := chain.Bounded(err)
		assert.EqualError(t, b, err.Error(), name)
		assert.NotErrorIs(t, b, io.ErrUnexpectedEOF, name)
		_, found := errors.AsType[*fs.PathError](b)
		assert.False(t, found, name)
		assert.Equal(t, name != "alone", errors.Is(b, io.EOF), name)
		assert.Equal(t, name != "alone", chain.Has(b, func(e error) bool { return e == io.EOF }), name)
		own, found := errors.AsType[circle](fmt.Errorf("read: %w", b))
		assert.Equal(t, name != "alone", found, name)
		assert.Equal(t, circle{}, own, name)
		assert.Equal(t, b, chain.Bounded(chain.Bounded(b)), name)
	}
	assert.NoError(t, chain.Bounded(nil))
	for _, err := range []error{io.EOF, errors.Join(io.EOF, of{"pay", io.EOF}), long(254, io.EOF)} {
		assert.Equal(t, fmt.Sprintf("%T", err), fmt.Sprintf("%T", chain.Bounded(err)))
	}
	assert.NotEqual(t, long(300, io.EOF), chain.Bounded(long(300, io.EOF)), "a chain may be long, too")
}
