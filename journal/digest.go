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

// digester makes the digests of what is left out of a journal, and those of its prompts: over the digests of
// their pieces, so that a piece that was left out is as good as the piece itself. The digest of the
// conversation is kept as it grows, so that a prompt costs what it adds.
type digester struct {
	mac stdhash.Hash
	// said is the digest of the conversation so far; empty where nothing was said.
	said string
}

// newDigester returns a digester for a session. Without a secret key the digests of equal pieces are equal
// within a session only.
func newDigester(session string, secret []byte) *digester {
	key := append([]byte("retake "+session+"\x00"), secret...)
	return &digester{mac: hmac.New(sha256.New, key)}
}

// of is the keyed digest of text.
func (d *digester) of(text []byte) hash {
	d.mac.Reset()
	d.mac.Write(text)
	return hexOf(d.mac.Sum(nil))
}

// piece is the digest of a text, or that which its mark holds; empty where there is no text.
func (d *digester) piece(text string) string {
	if text == "" {
		return ""
	}
	if m, ok := parseMark(text); ok {
		return m.Digest
	}
	return d.of([]byte(text)).String()
}

// say adds messages to the conversation.
func (d *digester) say(said []message.Message) error {
	for _, m := range said {
		m.Text, m.Opaque, m.Calls = d.piece(m.Text), d.piece(m.Opaque), slices.Clone(m.Calls)
		for n := range m.Calls {
			m.Calls[n].Arguments = d.piece(m.Calls[n].Arguments)
		}
		raw, err := canon.Marshal(m)
		if err != nil {
			return err
		}
		d.said = d.of(append([]byte(d.said), raw...)).String()
	}
	return nil
}

// prompt is the digest of a prompt: the conversation so far, and the system prompt.
func (d *digester) prompt(call *machine.ModelCall) string {
	return d.of([]byte(d.said + d.piece(call.System))).String()
}

// conversation makes the digests of prompts where nothing is left out.
type conversation struct {
	// said is the digest of the conversation so far.
	said hash
}

func newConversation() conversation { return conversation{said: newHash()} }

// decide adds what a decision says to the conversation, and gives the decision the digest of its prompt.
func (t *conversation) decide(d *Decision) error {
	if len(d.Said) > 0 {
		list, err := canon.Marshal(d.Said)
		if err != nil {
			return err
		}
		t.said = t.said.next(list)
	}
	if call := d.asks(); call != nil {
		d.Prompt = t.prompt(call.System).String()
	}
	return nil
}

// prompt is the digest of a prompt: the conversation so far and, where there is one, the system prompt.
func (t *conversation) prompt(system string) hash {
	if system == "" {
		return t.said
	}
	of := hashOf([]byte(system))
	return t.said.next(of[:])
}

// asks is the call of the model that a decision ends with, nil where it ends with another effect.
func (d *Decision) asks() *machine.ModelCall {
	if last := len(d.Effects) - 1; last >= 0 && d.Effects[last].Kind == machine.CallModel {
		return d.Effects[last].Model
	}
	return nil
}

// SchemaDigest is the digest of a JSON Schema, as headers have it.
func SchemaDigest(schema []byte) string {
	sum := sha256.Sum256(schema)
	return hex.EncodeToString(sum[:hashLen/2])
}
