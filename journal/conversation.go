package journal

import (
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// conversation makes the digests of prompts where nothing is left out: of the conversation, whose digest grows by what each decision adds to it as
// the decision's record has it, so that a prompt costs what it adds and nothing is written twice; and of the system prompt.
type conversation struct {
	// said is the digest of the conversation before the decision at hand, next with it.
	said, next hash
	// system is the last system prompt, which most turns share, and ofSystem its digest.
	system   string
	ofSystem hash
}

func newConversation() conversation { return conversation{said: newHash()} }

// hear takes what a decision says, the list that b ends with. What stands before it in b, at least as long as a hash, is there again
// afterwards.
func (t *conversation) hear(b []byte, list int) {
	var held hash
	before := b[list-hashLen : list]
	copy(held[:], before)
	copy(before, t.said[:])
	t.next = hashOf(b[list-hashLen:])
	copy(before, held[:])
}

// prompt is the digest of a prompt, once what was said is heard.
func (t *conversation) prompt(system string) hash {
	if system == "" {
		return t.next
	}
	if system != t.system {
		t.system, t.ofSystem = system, hashOf([]byte(system))
	}
	var both [2 * hashLen]byte
	copy(both[:], t.next[:])
	copy(both[hashLen:], t.ofSystem[:])
	return hashOf(both[:])
}

// decide hears a decision that is not written, and gives it its digest.
func (t *conversation) decide(d *Decision) error {
	t.next = t.said
	if len(d.Said) > 0 {
		list, err := canon.Marshal(d.Said)
		if err != nil {
			return err
		}
		t.next = t.said.next(list)
	}
	if call := d.asks(); call != nil {
		d.Prompt = t.prompt(call.System).String()
	}
	return nil
}

// asks is the call of the model that a decision ends with, nil where it ends with another effect.
func (d *Decision) asks() *machine.ModelCall {
	if last := len(d.Effects) - 1; last >= 0 && d.Effects[last].Kind == machine.CallModel {
		return d.Effects[last].Model
	}
	return nil
}
