package chain_test

import (
	"errors"
	"fmt"
	"io"
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

func TestNoChainHangs(t *testing.T) {
	looked := 0
	assert.False(t, chain.Has(endless{}, func(error) bool { looked++; return false }))
	assert.Equal(t, 256, looked)
}
