package looptest

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/retake-go/retake/journal"
)

// Put implements [journal.Inbox].
func (s *Store) Put(_ context.Context, session string, item journal.Item) error {
	if err := item.Check(session); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := itemKey{item.Kind, item.Key}
	if first, there := s.items[session][key]; there {
		return &journal.AnsweredError{Session: session, First: first}
	}
	if len(s.items[session]) >= journal.MaxItems {
		return journal.ErrInboxFull
	}
	if s.items == nil {
		s.items = map[string]map[itemKey]journal.Item{}
	}
	if s.items[session] == nil {
		s.items[session] = map[itemKey]journal.Item{}
	}
	item.Body, item.At = bytes.Clone(item.Body), item.At.UTC().Round(0)
	s.items[session][key] = item
	return nil
}

// Items implements [journal.Inbox].
func (s *Store) Items(_ context.Context, session string) ([]journal.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := slices.Collect(maps.Values(s.items[session]))
	journal.SortItems(items)
	return items, nil
}

// Remove implements [journal.Inbox].
func (s *Store) Remove(_ context.Context, session string, item journal.Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.items[session], itemKey{item.Kind, item.Key})
	if len(s.items[session]) == 0 {
		delete(s.items, session)
	}
	return nil
}

// WithItems implements [journal.Inbox].
func (s *Store) WithItems(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.items)), nil
}
