package limiter_test

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

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
