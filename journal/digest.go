package journal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	stdhash "hash"
	"slices"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// digester makes the digests of what is left out of a journal, and those of its prompts: over the digests of their pieces, so that a
// piece that was left out is as good as the piece itself. The digest of the conversation is kept as it grows, so that a prompt costs what it adds.
type digester struct {
	mac stdhash.Hash
	// said is the digest of the conversation so far.
	said []byte
	// system is the last system prompt, which most turns share, and ofSystem its digest.
	system   string
	ofSystem []byte
	// room, chunk and sum are memory to write to.
	room  writer
	chunk [512]byte
	sum   [sha256.Size]byte
}

// newDigester returns a digester for a session. Without a secret key the digests of equal pieces are equal within a session
// only.
func newDigester(session string, secret []byte) *digester {
	key := append([]byte("retake "+session+"\x00"), secret...)
	d := &digester{mac: hmac.New(sha256.New, key)}
	d.room.digests = d
	return d
}

// of is the keyed digest of text.
func (d *digester) of(text []byte) (h hash) {
	d.mac.Reset()
	d.mac.Write(text)
	return d.end()
}

// end is the digest of what was written.
func (d *digester) end() (h hash) {
	hex.Encode(h[:], d.mac.Sum(d.sum[:0])[:hashLen/2])
	return h
}

// appendPiece appends the digest of a text, or that which its mark holds; nothing where there is no text.
func (d *digester) appendPiece(to []byte, text string) []byte {
	if text == "" {
		return to
	}
	if m, ok := parseMark(text); ok {
		return append(to, m.Digest...)
	}
	d.mac.Reset()
	for len(text) > 0 {
		n := copy(d.chunk[:], text)
		d.mac.Write(d.chunk[:n])
		text = text[n:]
	}
	h := d.end()
	return append(to, h[:]...)
}

// say adds messages to the conversation.
func (d *digester) say(said []message.Message) error {
	for n := range said {
		d.room.reset()
		d.room.b = append(d.room.b, d.said...)
		if err := d.room.said(&said[n]); err != nil {
			return err
		}
		h := d.of(d.room.b)
		d.said = append(d.said[:0], h[:]...)
	}
	return nil
}

// said appends a message as [canon.Marshal] writes it, digests in the place of its pieces.
func (w *writer) said(m *message.Message) error {
	w.odd = false
	b := writeMessage(w, w.b, m)
	if w.b = b[:len(b)-1]; !w.odd {
		return nil
	}
	// Another text is not UTF-8: the library says which.
	plain := *m
	plain.Text, plain.Opaque, plain.Calls = "", "", slices.Clone(m.Calls)
	for n := range plain.Calls {
		plain.Calls[n].Arguments = ""
	}
	_, err := canon.Marshal(plain)
	return err
}

// prompt is the digest of a prompt: the conversation so far, and the system prompt.
func (d *digester) prompt(call *machine.ModelCall) string {
	if call.System != d.system {
		d.system, d.ofSystem = call.System, d.appendPiece(d.ofSystem[:0], call.System)
	}
	d.room.b = append(append(d.room.b[:0], d.said...), d.ofSystem...)
	return d.of(d.room.b).String()
}

// SchemaDigest is the digest of a JSON Schema, as headers have it.
func SchemaDigest(schema []byte) string {
	sum := sha256.Sum256(schema)
	return hex.EncodeToString(sum[:hashLen/2])
}
