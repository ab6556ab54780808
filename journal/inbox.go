package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/retake-go/retake/internal/sealedline"
)

// Inbox is a [Store] that also keeps what others have to say to the runs of its sessions: answers to
// questions, and messages. Anyone may put an item, while another process writes the journal too. The writer
// of the journal takes an item: it records it as an event, and then removes it. It must be safe for
// concurrent use by several processes.
type Inbox interface {
	// Put adds an item, durably and once: nobody sees half of one. If there is an item of that kind and key,
	// it stays, and Put returns an [AnsweredError] that has it. The error is [ErrInboxFull] if there are
	// [MaxItems], that of [Item.Check] for an item that cannot be put, and [ErrReadOnly] if the store can
	// only be read. After another error the item may be there: a second Put tells.
	Put(ctx context.Context, session string, item Item) error
	// Items returns the items of a session by their time, then by kind and key. An item that cannot be read
	// is left out: the error names it and is returned with the others.
	Items(ctx context.Context, session string) ([]Item, error)
	// Remove removes the item of that kind and key. It is no error if there is none. An inbox without items
	// leaves nothing behind.
	Remove(ctx context.Context, session string, item Item) error
	// WithItems returns the ids of the sessions that have items, in ascending order. It costs nothing for
	// those that have none, so that one call a second serves a process with many sessions. Errors are those
	// of Items.
	WithItems(ctx context.Context) ([]string, error)
}

// Item is something that waits in an inbox for the writer of a session's journal.
type Item struct {
	Kind ItemKind `json:"kind"`
	// Key tells items of a kind apart: the id of the question, or a unique id of the message. It has 1 to
	// 512 bytes of printable UTF-8.
	Key string `json:"key"`
	// Body is what is said: JSON of at most [MaxItemBytes], less 8 KiB for the rest of the item.
	Body json.RawMessage `json:"body"`
	// By is who says it, in up to 512 bytes of printable UTF-8; empty if nobody is named.
	By string `json:"by,omitempty"`
	// At is when it was said, by the clock of who says it: a time of the years 1970 to 2200.
	At time.Time `json:"at"`
}

// ItemKind is a kind of items.
type ItemKind string

// The kinds of items.
const (
	// AnswerItem answers a question of the run.
	AnswerItem ItemKind = "answer"
	// MessageItem is a message of the user to the run.
	MessageItem ItemKind = "message"
)

// The bounds of an inbox.
const (
	// MaxItemBytes is the most that an item may have, as JSON: 1 MiB.
	MaxItemBytes = 1 << 20
	// maxKeyBytes is the most that a key or a name may have.
	maxKeyBytes = 512
	// MaxItems is the number of items of a session from which on no more are put. Several that are put at
	// once may exceed it.
	MaxItems = 256
)

// ErrAnswered: an item of that kind and key was put before. It is an [AnsweredError].
var ErrAnswered = errors.New("journal: it was answered before")

// ErrInboxFull: the inbox of the session has [MaxItems] items that nobody has taken.
var ErrInboxFull = fmt.Errorf("journal: the inbox of the session is full: it has %d items that no run has "+
	"taken", MaxItems)

// AnsweredError reports that another item was put first. errors.Is matches [ErrAnswered].
type AnsweredError struct {
	Session string
	// First is the item that counts.
	First Item
}

// Error names the session, the item, and who put it.
func (e *AnsweredError) Error() string {
	by := ""
	if e.First.By != "" {
		by = " by " + e.First.By
	}
	return fmt.Sprintf("journal: session %q: %s %q was given before%s, at %s: the first counts", e.Session,
		e.First.Kind,
		e.First.Key, by, e.First.At.Format(time.RFC3339))
}

// Is matches ErrAnswered.
func (e *AnsweredError) Is(target error) bool { return target == ErrAnswered }

// Check returns an error for an item that no inbox of the session takes. Stores call it first.
func (i Item) Check(session string) error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(session == "", "the session needs an id")
	fault(i.Kind != AnswerItem && i.Kind != MessageItem, "kind: must be %q or %q, not %q", AnswerItem,
		MessageItem, i.Kind)
	fault(i.Key == "", "key: must not be empty")
	fault(!shortText(i.Key), "key: must be printable UTF-8 of up to %d bytes", maxKeyBytes)
	fault(!shortText(i.By), "by: must be printable UTF-8 of up to %d bytes", maxKeyBytes)
	fault(!json.Valid(i.Body), "body: must be JSON")
	fault(i.At.Year() < 1970 || i.At.Year() > 2200, "at: must be a time of the years 1970 to 2200")
	fault(len(i.Body) > i.mostBody(), "body: has %d bytes, %d are allowed", len(i.Body), i.mostBody())
	if len(faults) > 0 {
		return fmt.Errorf("journal: an item for session %q: %w", session, errors.Join(faults...))
	}
	return nil
}

// itemFrame is the room for what an item has beside its body: key and name, escaped, and members.
const itemFrame = 8 << 10

// mostBody returns the most bytes that the body may have. A sealed one is larger than what it seals: base64
// makes four bytes of three.
func (i Item) mostBody() int {
	most := MaxItemBytes - itemFrame
	if _, err := sealedline.Parse(i.Body); err == nil {
		most += most/3 + sealedFrame
	}
	return most
}

// sealedFrame is the room for what a sealed body has beside the sealed text.
const sealedFrame = 4 << 10

// maxStored is the most that an item may have as it is stored: sealed, or not.
const maxStored = MaxItemBytes + MaxItemBytes/3 + sealedFrame

// shortText reports whether a text can be a key or a name.
func shortText(text string) bool {
	return len(text) <= maxKeyBytes && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// inboxLine is the file of an item. The session is there because the name of a file may be cut.
type inboxLine struct {
	Session string `json:"session"`
	Item
}

// encodeItem returns the file of an item, after Check.
func encodeItem(session string, i Item) ([]byte, error) {
	i.At = i.At.UTC().Round(0)
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(inboxLine{session, i})
	return text.Bytes(), err
}

// decodeItem reads the file of an item and checks it.
func decodeItem(text []byte) (session string, i Item, err error) {
	var line inboxLine
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&line); err != nil {
		return "", i, fmt.Errorf("it is not an item: %w", err)
	}
	if dec.More() {
		return "", i, errors.New("it is not an item: something follows the object")
	}
	return line.Session, line.Item, line.Check(line.Session)
}

// SortItems brings items into the order in which a run takes them: see [Inbox]. Stores call it.
func SortItems(items []Item) {
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
}
