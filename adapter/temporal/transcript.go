package temporal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/seq"
)

// transcripts keeps conversations in a store, as chains of pieces that are named by their content: saving one
// twice is saving it once. The conversations of late are kept in memory too.
type transcripts struct {
	store degrade.Storage

	mu     sync.Mutex
	recent map[string]message.Transcript
	order  []string
}

// piece is what was said after what Before names.
type piece struct {
	Before string            `json:"before,omitempty"`
	Said   []message.Message `json:"said"`
}

// maxRecent bounds the conversations in memory.
const maxRecent = 256

var errNoStore = errors.New("the conversation is kept in a store, and this worker has none: give it the Store that the run began with")

func newTranscripts(store degrade.Storage) *transcripts {
	return &transcripts{store: store, recent: map[string]message.Transcript{}}
}

// extend is the conversation that key names with what was said since, and the name of the whole. Without a
// store it has no name.
func (t *transcripts) extend(ctx context.Context, key string, said []message.Message) (message.Transcript, string, error) {
	if t.store == nil {
		if key != "" {
			return message.Transcript{}, "", errNoStore
		}
		return seq.Of(said...), "", nil
	}
	before, err := t.load(ctx, key)
	if err != nil || len(said) == 0 {
		return before, key, err
	}
	doc, err := engine.Marshal(piece{Before: key, Said: said})
	if err != nil {
		return before, "", err
	}
	sum := sha256.Sum256(doc)
	name := "retake/said/" + hex.EncodeToString(sum[:16])
	whole := before.Append(said...)
	if _, known := t.remembered(name); known {
		return whole, name, nil
	}
	if err := t.store.Save(ctx, name, doc); err != nil {
		return before, "", fmt.Errorf("keeping the conversation: %w", err)
	}
	t.remember(name, whole)
	return whole, name, nil
}

// load is the conversation that key names.
func (t *transcripts) load(ctx context.Context, key string) (message.Transcript, error) {
	var missing []piece
	var whole message.Transcript
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
		whole = whole.Append(missing[n].Said...)
	}
	if len(missing) > 0 {
		t.remember(key, whole)
	}
	return whole, nil
}

// read reads one piece, which must be what its name says.
func (t *transcripts) read(ctx context.Context, key string) (p piece, err error) {
	doc, err := t.store.Load(ctx, key)
	if err != nil {
		return p, fmt.Errorf("reading the conversation: %w", err)
	}
	sum := sha256.Sum256(doc)
	if !strings.HasSuffix(key, "/"+hex.EncodeToString(sum[:16])) {
		return p, fmt.Errorf("reading the conversation: what is stored as %s is not what was kept there", key)
	}
	known := json.NewDecoder(bytes.NewReader(doc))
	known.DisallowUnknownFields() // a newer worker's piece may say more than this one can keep
	return p, known.Decode(&p)
}

func (t *transcripts) remembered(key string) (message.Transcript, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	held, ok := t.recent[key]
	return held, ok
}

func (t *transcripts) remember(key string, whole message.Transcript) {
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
