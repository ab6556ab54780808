package journal

import (
	"crypto/hmac"
	"crypto/sha256"
	stdhash "hash"
	"slices"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
)

// digester makes the digests of prompts. It extends the digest of the conversation by what is new, so a
// prompt costs only what it adds. In a redacted journal digests are keyed, and those of prompts are taken
// over the digests of texts, so that a mark has the same digest as its text.
type digester struct {
	// sum makes all digests. They are keyed if the journal is redacted.
	sum   stdhash.Hash
	keyed bool
	// said is the digest of the conversation so far.
	said hash
	// cuts is the digest of all cuts so far; empty if there are none.
	cuts []byte
	// room is where [digester.written] writes.
	room []byte
}

func newDigester() *digester { return &digester{sum: sha256.New(), said: newHash()} }

// newKeyedDigester returns a digester for a redacted journal. Without a secret key, equal texts have equal
// digests only within a session.
func newKeyedDigester(session string, secret []byte) *digester {
	key := append([]byte("retake "+session+"\x00"), secret...)
	return &digester{sum: hmac.New(sha256.New, key), keyed: true, said: newHash()}
}

// of returns the digest of concatenated bytes.
func (d *digester) of(parts ...[]byte) hash {
	d.sum.Reset()
	for _, part := range parts {
		d.sum.Write(part)
	}
	return hexOf(d.sum.Sum(nil))
}

// ofText returns the digest of a text, or the digest in its mark; empty for an empty text.
func (d *digester) ofText(text string) string {
	if text == "" {
		return ""
	}
	if m, ok := parseMark(text); ok && d.keyed {
		return m.Digest
	}
	return d.of([]byte(text)).String()
}

// decide adds the messages of a decision to the conversation, and sets the digest of its prompt.
func (d *digester) decide(decision *Decision) error {
	if len(decision.Said) > 0 {
		said := d.covered(decision.Said)
		if err := d.written(&said, func(text []byte) { d.said = d.of(d.said[:], text) }); err != nil {
			return err
		}
	}
	if call := decision.asks(); call != nil {
		decision.Prompt = d.prompt(call.System).String()
	}
	return nil
}

// cut adds the cuts of an event to those so far.
func (d *digester) cut(cuts []projection.Cut) error {
	if d.keyed {
		cuts = slices.Clone(cuts)
		for n := range cuts {
			cuts[n].Text = d.ofText(cuts[n].Text)
		}
	}
	return d.written(cuts, func(text []byte) {
		sum := d.of(d.cuts, text)
		d.cuts = sum[:]
	})
}

// prompt returns the digest of what a prompt is made from: the conversation so far, its cuts, and the system
// prompt, if any.
func (d *digester) prompt(system string) hash {
	if system == "" && len(d.cuts) == 0 {
		return d.said
	}
	return d.of(d.said[:], d.cuts, []byte(d.ofText(system)))
}

func (d *digester) message(m message.Message) (string, error) {
	var digest hash
	err := d.written(d.covered([]message.Message{m}), func(text []byte) { digest = d.of(text) })
	return digest.String(), err
}

// written calls use with a value as it stands in a record. use must not keep the text.
func (d *digester) written(v any, use func(text []byte)) error {
	text, err := canon.AppendDeclared(d.room[:0], v)
	if err == nil {
		use(text)
	}
	if d.room = text; cap(text) > keptRoom {
		d.room = nil
	}
	return err
}

// covered returns messages with digests in place of texts if the journal is redacted.
func (d *digester) covered(said []message.Message) []message.Message {
	if !d.keyed {
		return said
	}
	said = message.Clone(said)
	for n := range said {
		m := &said[n]
		m.Text, m.Opaque = d.ofText(m.Text), d.ofText(m.Opaque)
		for c := range m.Parts {
			p := &m.Parts[c]
			p.Text, p.URL, p.Data, p.Name = d.ofText(p.Text), d.ofText(p.URL), d.ofText(p.Data),
				d.ofText(p.Name)
		}
		for c := range m.Calls {
			m.Calls[c].Arguments = d.ofText(m.Calls[c].Arguments)
		}
	}
	return said
}

// asks returns the model call at the end of a decision, or nil.
func (d *Decision) asks() *machine.ModelCall {
	if last := lastOf(d.Effects); last.Kind == machine.CallModel {
		return last.Model
	}
	return nil
}

// SchemaDigest returns the digest of a JSON Schema, as in headers.
func SchemaDigest(schema []byte) string {
	return hashOf(schema).String()
}
