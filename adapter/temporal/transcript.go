package temporal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/message"
)

// transcripts keeps conversations in a store, as chains of pieces. The name of a piece is the hash of its
// content, so saving it twice changes nothing. Recent conversations are kept in memory, too.
type transcripts struct {
	store degrade.Storage

	mu     sync.Mutex
	recent map[string][]message.Message
	order  []string
}

// piece is a part of a conversation: the messages after the piece with the name Before.
type piece struct {
	Before string            `json:"before,omitempty"`
	Said   []message.Message `json:"said"`
}

// maxRecent bounds the number of conversations in memory.
const maxRecent = 256

var errNoStore = errors.New("the conversation is in a store, and this worker has no Store: " +
	"set the Store that the run began with")

func newTranscripts(store degrade.Storage) *transcripts {
	return &transcripts{store: store, recent: map[string][]message.Message{}}
}

// extend returns the conversation with the name key, extended by said, and the name of the whole. Without a
// store there is no name.
func (t *transcripts) extend(
	ctx context.Context, key string, said []message.Message,
) ([]message.Message, string, error) {
	if t.store == nil {
		if key != "" {
			return nil, "", errNoStore
		}
		return said, "", nil
	}
	if len(said) == 0 {
		before, err := t.load(ctx, key)
		return before, key, err
	}
	doc, err := engine.Marshal(piece{Before: key, Said: said})
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(doc)
	name := "retake/said/" + hex.EncodeToString(sum[:16])
	if whole, known := t.remembered(name); known {
		return whole, name, nil
	}
	before, err := t.load(ctx, key)
	if err != nil {
		return nil, "", err
	}
	if err := t.store.Save(ctx, name, doc); err != nil {
		return nil, "", fmt.Errorf("storing the conversation: %w", err)
	}
	whole := slices.Concat(before, said)
	t.remember(name, whole)
	t.forget(key)
	return whole, name, nil
}

// load returns the conversation with the name key.
func (t *transcripts) load(ctx context.Context, key string) ([]message.Message, error) {
	var missing []piece
	var whole []message.Message
	for at := key; at != ""; {
		if held, ok := t.remembered(at); ok {
			whole = held
			break
		}
		p, err := t.read(ctx, at)
		if err != nil {
			return whole, err
		}
		missing, at = append(missing, p), p.Before
	}
	for n := len(missing) - 1; n >= 0; n-- {
		whole = slices.Concat(whole, missing[n].Said)
	}
	if len(missing) > 0 {
		t.remember(key, whole)
	}
	return whole, nil
}

// read reads one piece and checks it against its name.
func (t *transcripts) read(ctx context.Context, key string) (p piece, err error) {
	doc, err := t.store.Load(ctx, key)
	if err != nil {
		return p, fmt.Errorf("reading the conversation: %w", err)
	}
	sum := sha256.Sum256(doc)
	if !strings.HasSuffix(key, "/"+hex.EncodeToString(sum[:16])) {
		return p, fmt.Errorf("reading the conversation: the stored content of %s does not match its name",
			key)
	}
	known := json.NewDecoder(bytes.NewReader(doc))
	known.DisallowUnknownFields() // a newer worker's piece may say more than this one can keep
	return p, known.Decode(&p)
}

func (t *transcripts) remembered(key string) ([]message.Message, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	held, ok := t.recent[key]
	return held, ok
}

func (t *transcripts) remember(key string, whole []message.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.recent[key]; ok {
		return
	}
	if t.order = append(t.order, key); len(t.order) > maxRecent {
		delete(t.recent, t.order[0])
		t.order = t.order[1:]
	}
	t.recent[key] = whole
}

// forget removes a conversation that has been extended from memory.
func (t *transcripts) forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.recent, key)
	t.order = slices.DeleteFunc(t.order, func(k string) bool { return k == key })
}
