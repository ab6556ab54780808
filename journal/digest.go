package journal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	stdhash "hash"
	"slices"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// digester makes the digests of prompts: over the digests of their pieces, so that a piece that was left out of the journal is
// as good as the piece itself. The digest of the conversation is kept as it grows, so that a prompt costs what it adds.
type digester struct {
	mac stdhash.Hash
	// said is the digest of the conversation so far.
	said string
	// marks says that pieces may be marks of what was redacted.
	marks bool
	// sum and room are memory to write to.
	sum  [sha256.Size]byte
	room []byte
}

// newDigester returns a digester for a session. Without a secret key the digests of equal pieces are equal within a session
// only.
func newDigester(session string, secret []byte, marks bool) *digester {
	key := append([]byte("retake "+session+"\x00"), secret...)
	return &digester{mac: hmac.New(sha256.New, key), marks: marks}
}

// of is the keyed digest of text.
func (d *digester) of(text []byte) string {
	d.mac.Reset()
	d.mac.Write(text)
	return hex.EncodeToString(d.mac.Sum(d.sum[:0])[:hashLen/2])
}

// piece is the digest of a text, or that which its mark holds.
func (d *digester) piece(text string) string {
	if text == "" {
		return ""
	}
	if m, ok := parseMark(text); ok && d.marks {
		return m.Digest
	}
	return d.of([]byte(text))
}

// say adds messages to the conversation.
func (d *digester) say(said []message.Message) error {
	for _, m := range said {
		m.Text, m.Opaque = d.piece(m.Text), d.piece(m.Opaque)
		if len(m.Calls) > 0 {
			m.Calls = slices.Clone(m.Calls)
		}
		for n := range m.Calls {
			m.Calls[n].Arguments = d.piece(m.Calls[n].Arguments)
		}
		text, err := appendSaid(append(d.room[:0], d.said...), &m)
		if err != nil {
			return err
		}
		d.room, d.said = text, d.of(text)
	}
	return nil
}

// prompt is the digest of a prompt: the conversation so far, and the system prompt.
func (d *digester) prompt(call *machine.ModelCall) string {
	return d.of([]byte(d.said + d.piece(call.System)))
}

// SchemaDigest is the digest of a JSON Schema, as headers have it.
func SchemaDigest(schema []byte) string {
	sum := sha256.Sum256(schema)
	return hex.EncodeToString(sum[:hashLen/2])
}
