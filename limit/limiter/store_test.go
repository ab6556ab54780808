package limiter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/limit/limittest"
)

// memory is a store in this process.
type memory struct {
	mu      sync.Mutex
	records map[string]limiter.Record
}

func newMemory() *memory { return &memory{records: map[string]limiter.Record{}} }

func (m *memory) Load(ctx context.Context, scope string) (limiter.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.records[scope]
	r.Value, r.Now = bytes.Clone(r.Value), time.Now()
	return r, ctx.Err()
}

func (m *memory) Swap(ctx context.Context, scope string, version int64, value []byte) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() != nil || m.records[scope].Version != version {
		return false, ctx.Err()
	}
	m.records[scope] = limiter.Record{Value: bytes.Clone(value), Version: version + 1}
	return true, nil
}

func TestMemory(t *testing.T) {
	limittest.Store(t, func(*testing.T) limiter.Store { return newMemory() })
}

// A record has one ask for each process, however many of its calls wait.
func TestTheCallsThatWaitAreCountedOfARecord(t *testing.T) {
	st, err := limit.New(limit.Config{Concurrency: 1})
	require.NoError(t, err)
	for process, calls := range []int64{1, 40, 2} { // the first has the place
		ask := limit.Event{Kind: limit.Ask, ID: int64(process), At: time.Now(), Calls: calls, Shared: true, Retry: calls == 2}
		st, _ = limit.Step(st, ask)
	}
	value, err := json.Marshal(map[string]any{"state": st})
	require.NoError(t, err)
	status, err := limiter.Recorded("a", value)
	require.NoError(t, err)
	assert.Equal(t, 42, status.Waiting)
}

// notices are the kinds of all notices, which come from any goroutine.
type notices struct {
	mu    sync.Mutex
	kinds []limiter.NoticeKind
}

func (n *notices) add(one limiter.Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kinds = append(n.kinds, one.Kind)
}

func (n *notices) all() []limiter.NoticeKind {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.kinds)
}
