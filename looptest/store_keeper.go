package looptest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"

	"github.com/retake-go/retake/journal"
)

// Stats implements [journal.Keeper]. It does not know when a journal was written.
func (s *Store) Stats(_ context.Context, _ ...journal.Stat) (all []journal.Stat, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(s.texts)) {
		all = append(all, journal.Stat{Session: id, Bytes: int64(len(s.texts[id])), Held: s.held[id] != nil})
	}
	return all, nil
}

// Peek implements [journal.Keeper].
func (s *Store) Peek(_ context.Context, session string) (io.ReadCloser, error) {
	text := s.Text(session)
	if text == nil {
		return nil, journal.ErrNoRun
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}
