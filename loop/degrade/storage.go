package degrade

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Storage keeps context outside of a run, by key: snapshots, histories. It is safe for concurrent use.
type Storage interface {
	// Save keeps data; Load gives back what was saved last.
	Save(ctx context.Context, key string, data []byte) error
	Load(ctx context.Context, key string) ([]byte, error)
}

// KeepInMemory is a storage that keeps in memory what to refuses to save,
// at most the given number of bytes in all: beyond that, saving fails with to's error, which names the bound.
// What to saves later is no longer held.
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
	_, err := attempt(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, m.to.Save(ctx, key, data) })
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

// hold keeps data in memory, where it fits beside what is held under other keys.
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

// Load prefers what is held in memory: it is newer than what was saved.
func (m *memory) Load(ctx context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	data, ok := m.held[key]
	m.mu.Unlock()
	if ok {
		return slices.Clone(data), nil
	}
	return m.to.Load(ctx, key)
}
