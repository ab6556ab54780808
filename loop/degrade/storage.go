package degrade

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Storage keeps data outside a run, such as snapshots and histories, by key. It must be safe for concurrent
// use.
type Storage interface {
	// Save stores data under key. Load returns what was last saved under key.
	Save(ctx context.Context, key string, data []byte) error
	Load(ctx context.Context, key string) ([]byte, error)
}

// KeepInMemory returns a storage that keeps in memory what to fails to save, at most most bytes in total.
// Beyond that, Save returns the error of to with the limit. Data that to saves later is dropped from memory.
func KeepInMemory(f *Fallbacks, to Storage, most int) Storage {
	return &memory{f: f, to: to, most: most, held: map[string][]byte{}}
}

type memory struct {
	f    *Fallbacks
	to   Storage
	most int

	mu   sync.Mutex
	size int
	held map[string][]byte
}

func (m *memory) Save(ctx context.Context, key string, data []byte) error {
	_, err := attempt(ctx,
		func(ctx context.Context) (struct{}, error) { return struct{}{}, m.to.Save(ctx, key, data) })
	if err == nil {
		m.drop(key)
		return nil
	}
	if others, ok := m.hold(key, data); !ok {
		return fmt.Errorf("%w (and memory holds %d of at most %d bytes: %d more do not fit)", err, others, m.most, len(data))
	}
	m.f.note(ctx, StorageFailed, err)
	return nil
}

func (m *memory) drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.size -= len(m.held[key])
	delete(m.held, key)
}

// hold keeps data in memory if it fits with the data of other keys.
func (m *memory) hold(key string, data []byte) (others int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	others = m.size - len(m.held[key])
	if len(data) > m.most-others {
		return others, false
	}
	m.held[key], m.size = slices.Clone(data), others+len(data)
	return others, true
}

// Load prefers the data in memory, because it is newer.
func (m *memory) Load(ctx context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	data, ok := m.held[key]
	m.mu.Unlock()
	if ok {
		return slices.Clone(data), nil
	}
	return m.to.Load(ctx, key)
}
