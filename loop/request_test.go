package loop_test

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// bank is a payment provider that keeps the idempotency key of each payment.
type bank struct{ keys []string }

func (b *bank) tools(t *testing.T) *tool.Set {
	t.Helper()
	return bookRoom(t, func(ctx context.Context, _ booking) (receipt, error) {
		b.keys = append(b.keys, tool.IdempotencyKey(ctx))
		return receipt{Number: "R-1"}, nil
	})
}

// asks makes one request of a conversation, which ends with one call and a word. It returns the
// conversation.
func (b *bank) asks(t *testing.T, in loop.Input, j *journal.Journal) []message.Message {
	t.Helper()
	model := looptest.NewModel(looptest.Call(call("book_room", lisbon)), looptest.Say("Done."))
	result, err := fixture.Run(t.Context(), model, fixture.In(newSession(t), j), in, loop.Config{Tools: b.tools(t)})
	require.NoError(t, err)
	return result.Transcript
}

func TestEachRequestOfAConversationHasKeysOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	for name, opts := range map[string]func(t *testing.T) *journal.Journal{
		"without a journal": func(*testing.T) *journal.Journal { return nil },
		"in one journal": func(t *testing.T) *journal.Journal {
			t.Helper()
			j, err := journal.Open(t.Context(), journal.Dir(filepath.Join(dir, "whole")), "order-42", plainSettings)
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, j.Close()) })
			return j
		},
		"in a redacted journal": func(t *testing.T) *journal.Journal {
			t.Helper()
			with := plainSettings
			with.Redact = &journal.Redaction{Prompts: true, Replies: true, Transcripts: &kept{texts: map[string]string{}}}
			j, err := journal.Open(t.Context(), journal.Dir(filepath.Join(dir, "redacted")), "order-42", with)
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, j.Close()) })
			return j
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bank
			with := opts(t)
			said := b.asks(t, loop.Input{Prompt: "Pay."}, with)
			said = b.asks(t, loop.Input{Prompt: "Pay.", History: said}, with)
			b.asks(t, loop.Input{Prompt: "Pay.", History: said}, with)
			require.Len(t, b.keys, 3)
			assert.NotEqual(t, b.keys[0], b.keys[1])
			assert.NotEqual(t, b.keys[1], b.keys[2])
			assert.NotEqual(t, b.keys[0], b.keys[2])

			again := b
			said = again.asks(t, loop.Input{Prompt: "Pay."}, nil)
			again.asks(t, loop.Input{Prompt: "Pay.", History: said}, nil)
			assert.Equal(t, b.keys[:2], again.keys[3:], "the same requests, made again from their start")
		})
	}
}

func TestARequestWithAnIDIsThatRequest(t *testing.T) {
	var b bank
	b.asks(t, loop.Input{Prompt: "Pay.", RequestID: "payment-1"}, nil)
	b.asks(t, loop.Input{Prompt: "Pay, please.", RequestID: "payment-1"}, nil)
	b.asks(t, loop.Input{Prompt: "Pay.", RequestID: "payment-2"}, nil)
	b.asks(t, loop.Input{Prompt: "Pay."}, nil)
	require.Len(t, b.keys, 4)
	assert.Equal(t, b.keys[0], b.keys[1])
	assert.NotEqual(t, b.keys[0], b.keys[2])
	assert.NotEqual(t, b.keys[0], b.keys[3])
}

func TestARequestIDIsShortAndPrintable(t *testing.T) {
	for name, id := range map[string]string{
		"a line break": "a\nb", "too long": string(make([]byte, 256+1)), "no UTF-8": "\xff",
	} {
		in := loop.Input{Prompt: "Pay.", RequestID: id}
		assert.ErrorContains(t, in.Validate(), "request_id: ", name)
		_, err := fixture.Run(t.Context(), looptest.NewModel(), newSession(t), in, loop.Config{})
		assert.ErrorContains(t, err, "request_id: ", name)
	}
}

func TestTheKeyOfAnActionCountsFromTheBeginningOfItsRun(t *testing.T) {
	var first, second bank
	s := newSession(t)
	run := func(b *bank, prompt string) {
		model := looptest.NewModel(looptest.Call(call("book_room", lisbon)), looptest.Call(call("book_room", lisbon)), looptest.Say("Done."))
		_, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: prompt, NewConversation: true}, loop.Config{Tools: b.tools(t)})
		require.NoError(t, err)
	}
	run(&first, "Pay.")
	run(&first, "Pay again.")
	s = newSession(t)
	run(&second, "Pay again.")
	assert.NotEqual(t, first.keys[2], first.keys[3], "two actions of one run")
	assert.Equal(t, first.keys[2:], second.keys, "what else the session has seen does not matter")
}

// An id stays that of its prompt, however many requests came after it: in the same process or another, in a
// redacted or compacted journal.
func TestAnOlderRequestIDBelongsToItsPrompt(t *testing.T) {
	for name, redact := range map[string]*journal.Redaction{
		"plain":    nil,
		"redacted": {Prompts: true, Transcripts: &kept{texts: map[string]string{}}, Key: []byte("a key of many bytes")},
	} {
		t.Run(name, func(t *testing.T) {
			store, with := &looptest.Store{}, journal.Settings{Redact: redact}
			model := looptest.NewModel(looptest.Say("one"), looptest.Say("two"), looptest.Say("three"))
			in := func(do func(j *journal.Journal)) {
				t.Helper()
				j, err := journal.Open(t.Context(), store, "order-42", with)
				require.NoError(t, err)
				do(j)
				require.NoError(t, j.Close())
			}
			run := func(j *journal.Journal, id, prompt string) (loop.Result, error) {
				return fixture.Run(t.Context(), model, fixture.In(nil, j), loop.Input{Prompt: prompt, RequestID: id}, loop.Config{})
			}
			holds := func(j *journal.Journal) {
				t.Helper()
				_, err := run(j, "1", "Pay again.")
				require.ErrorContains(t, err, `request_id: "1" belongs to another prompt in the journal`)
				again, err := run(j, "1", "Pay.")
				require.NoError(t, err)
				assert.Equal(t, "one", again.Text)
			}
			in(func(j *journal.Journal) {
				for n, prompt := range []string{"Pay.", "And?", "Well?"} {
					_, err := run(j, strconv.Itoa(n+1), prompt)
					require.NoError(t, err)
				}
				holds(j)
			})
			in(holds)
			var key []byte
			if redact != nil {
				key = redact.Key
			}
			require.NoError(t, journal.Compact(t.Context(), store, "order-42", key))
			in(holds)
		})
	}
}
