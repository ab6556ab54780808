package looptest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/retake-go/retake/journal"
)

// Store is a [journal.Store] in memory, and a [journal.Inbox]. The zero value is empty and ready to use. It
// is safe for concurrent use.
type Store struct {
	mu    sync.Mutex
	texts map[string][]byte
	held  map[string]*heldJournal
	// items are those of each session that has any.
	items map[string]map[itemKey]journal.Item
}

// itemKey tells the items of a session apart.
type itemKey struct {
	kind journal.ItemKind
	key  string
}

// List implements [journal.Store].
func (s *Store) List(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.texts)), nil
}

// Open implements [journal.Store].
func (s *Store) Open(_ context.Context, session string) (journal.Log, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[session] != nil {
		return nil, &journal.ConflictError{Session: session}
	}
	if s.texts == nil {
		s.texts, s.held = map[string][]byte{}, map[string]*heldJournal{}
	}
	s.held[session] = &heldJournal{s, session}
	return s.held[session], nil
}

// Text returns a copy of a session's journal, or nil if there is none.
func (s *Store) Text(session string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.texts[session])
}

type heldJournal struct {
	s       *Store
	session string
}

func (h *heldJournal) Read(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(h.s.Text(h.session))), nil
}

func (h *heldJournal) Append(_ context.Context, at int64, lines []byte, _ bool) error {
	return h.write(at, func(text []byte) []byte { return append(text, lines...) })
}

func (h *heldJournal) Replace(_ context.Context, at int64, lines []byte) error {
	err := h.write(at, func([]byte) []byte { return bytes.Clone(lines) })
	if err == nil && len(lines) == 0 {
		h.s.mu.Lock()
		defer h.s.mu.Unlock()
		delete(h.s.texts, h.session)
		delete(h.s.held, h.session) // nothing more is written
	}
	return err
}

// write changes the complete lines of a journal, which end at offset at.
func (h *heldJournal) write(at int64, change func([]byte) []byte) error {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	text := h.s.texts[h.session]
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if at != int64(len(text)) || h.s.held[h.session] != h {
		return &journal.ConflictError{Session: h.session, Want: at, Found: int64(len(text))}
	}
	h.s.texts[h.session] = change(text)
	return nil
}

func (h *heldJournal) Close() error {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	if h.s.held[h.session] == h {
		delete(h.s.held, h.session)
	}
	return nil
}
