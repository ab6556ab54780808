package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/journal/sealed"
)

// unreadableStore is a store whose journals cannot be read now.
type unreadableStore struct{ inbox.Store }

func (unreadableStore) Peek(context.Context, string) (io.ReadCloser, error) {
	return nil, errors.New("too many open files")
}

// What a person says is not put in the clear because the journal beside it could not be looked at.
func TestNothingIsPutInTheClearBesideAJournalThatCannotBeRead(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	key, err := sealed.AES([]byte(strings.Repeat("k", sealed.MinKey)))
	require.NoError(t, err)
	e := &env{keys: []sealed.Sealer{key}}
	store, err := e.sealing(unreadableStore{dir})
	require.NoError(t, err)
	item := journal.Item{Kind: journal.MessageItem, Key: "m1", Body: []byte(`"The code is 1234."`), At: time.Unix(1e9, 0)}
	require.NoError(t, store.Put(t.Context(), "order-42", item))
	stored, err := dir.Items(t.Context(), "order-42")
	require.NoError(t, err)
	require.Len(t, stored, 1)
	assert.NotContains(t, string(stored[0].Body), "1234")
}
