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

// KeepInMemory returns a storage that forwards to the storage to, and keeps in memory what that fails to
// save: at most most bytes in total. Beyond that, Save returns the error of to with the limit. Data for a key
// is dropped from memory once newer data is saved. Of two calls of Save that overlap, the one that began
// later has the newer data. If to saves the older data last, memory keeps the newer data, if it fits.
func KeepInMemory(f *Fallbacks, to Storage, most int) Storage {
	return &memory{f: f, to: to, most: most, keys: map[string]*entry{}}
}

type memory struct {
	f    *Fallbacks
	to   Storage
	most int

	mu   sync.Mutex
	size int
	// keys are those that have data in memory or that are being saved.
	keys map[string]*entry
}

// entry is what is known about a key.
type entry struct {
	// begun is the number of calls of Save so far, and open that of calls in progress. Calls are numbered
	// from 1, and newest is the number of the newest call whose data was saved or is held.
	begun, open, newest int
	// held reports that data is in memory, and stored that the storage has it too. Then it is held until the
	// calls that began earlier have ended, because they may still replace it in the storage.
	held, stored bool
	data         []byte
}

func (m *memory) Save(ctx context.Context, key string, data []byte) error {
	number := m.begin(key)
	_, err := attempt(ctx,
		func(ctx context.Context) (struct{}, error) { return struct{}{}, m.to.Save(ctx, key, data) })
	older, others, fits := m.end(key, number, data, err == nil)
	switch {
	case err == nil || older:
		return nil
	case !fits:
		return fmt.Errorf("%w (and memory holds %d of at most %d bytes: %d more do not fit)", err, others,
			m.most, len(data))
	}
	m.f.note(ctx, StorageFailed, err)
	return nil
}

// begin returns the number of a call of Save.
func (m *memory) begin(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.keys[key]
	if e == nil {
		e = &entry{}
		m.keys[key] = e
	}
	e.begun, e.open = e.begun+1, e.open+1
	return e.begun
}

// end keeps data in memory that was not saved, or that an earlier call may replace in the storage, if it fits
// beside the data of other keys. It never replaces newer data. older reports that there is newer data, others
// is the size of the other keys' data, and fits is false if the data is neither saved nor held.
func (m *memory) end(key string, number int, data []byte, saved bool) (older bool, others int, fits bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.keys[key]
	others = m.size - len(e.data)
	room := len(data) <= m.most-others
	older, fits = number < e.newest, saved || room
	e.open--
	switch {
	case older && saved:
		e.stored = false // it has taken the place of newer data
	case !older && fits:
		e.newest, e.stored, e.data = number, saved, nil
		if e.held = room && (!saved || e.open > 0); e.held {
			e.data = slices.Clone(data)
		}
	}
	if e.open == 0 && e.stored {
		e.held, e.data = false, nil
	}
	m.size = others + len(e.data)
	if e.open == 0 && !e.held {
		delete(m.keys, key)
	}
	return older, others, fits
}

// Load prefers the data in memory, because it is newer.
func (m *memory) Load(ctx context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	e := m.keys[key]
	var data []byte
	held := e != nil && e.held
	if held {
		data = slices.Clone(e.data)
	}
	m.mu.Unlock()
	if held {
		return data, nil
	}
	return m.to.Load(ctx, key)
}
