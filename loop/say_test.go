package loop_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// slowly is a model whose calls take a minute each, and that keeps what it was asked.
type slowly struct {
	*looptest.Model
	left atomic.Int32
}

func (s *slowly) Reply(ctx context.Context, r loop.Request) (message.Reply, error) {
	select {
	case <-time.After(time.Minute):
		return s.Model.Reply(ctx, r)
	case <-ctx.Done():
		s.left.Add(1)
		return message.Reply{}, ctx.Err()
	}
}

// texts are what the users of a request have said.
func texts(r loop.Request) (all []string) {
	for _, m := range r.Messages {
		if m.Role == message.User {
			all = append(all, m.Text)
		}
	}
	return all
}

// A message of any length is heard as it was written, but for keys in it.
func TestAMessageIsHeardWhole(t *testing.T) {
	long := strings.Repeat("One line,\n  and one that is indented.\n", 200)
	synctest.Test(t, func(t *testing.T) {
		store := new(postbox)
		model := &slowly{Model: looptest.NewModel(looptest.Say("To Lisbon."), looptest.Say("To Rome."))}
		s := fixture.In(nil, store.open(t, "order-42"))
		done := runs(t, false, model, s, loop.Config{})
		time.Sleep(time.Second)
		require.NoError(t, s.Say(session.Words{Text: long + "My key is sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789.\n" + long}))
		require.NoError(t, (<-done).err)
		assert.Equal(t, long+"My key is [key left out]\n"+long, texts(model.Requests()[1])[1])
	})
}

// What a user says while the model answers is heard before the run ends: the answer is not the last one.
func TestAMessageEntersBeforeTheNextModelCall(t *testing.T) {
	for _, pooled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := new(postbox)
			model := &slowly{Model: looptest.NewModel(looptest.Say("To Lisbon."), looptest.Say("To Rome."))}
			s := fixture.In(nil, store.open(t, "order-42"))
			require.ErrorIs(t, s.Say(session.Words{Text: "Hello?"}), session.ErrNotHeld)
			done := runs(t, pooled, model, s, loop.Config{})
			time.Sleep(time.Second)
			require.NoError(t, s.Say(session.Words{Text: "Rather to Italy.", By: "Ann"}))
			require.NoError(t, inbox.Say(t.Context(), store, "order-42", session.Words{Text: "By train.", At: time.Now()}))
			require.ErrorContains(t, s.Say(session.Words{}), "text: must not be empty")
			require.ErrorContains(t, s.Say(session.Words{Text: " \n"}), "text: must not be empty")
			result := <-done
			require.NoError(t, result.err)
			assert.Equal(t, "To Rome.", result.Text)
			assert.Equal(t, []string{"Where to?", "Rather to Italy.", "By train."}, texts(model.Requests()[1]))
			assert.Len(t, result.Attempts, 1, "nothing is charged")
			assert.Zero(t, model.left.Load())
			store.empty(t)
			require.ErrorIs(t, inbox.Say(t.Context(), store, "order-42", session.Words{Text: "Thanks.", At: time.Now()}), inbox.ErrEnded)
			_, err := journal.Replay(strings.NewReader(string(store.Text("order-42"))), nil)
			require.NoError(t, err)
			outlook, err := journal.WhatIf{}.Run(strings.NewReader(string(store.Text("order-42"))))
			require.NoError(t, err)
			assert.True(t, outlook.Runs[0].SameEnd, "%v", outlook.Runs[0].Silent)
		})
	}
}

// ended is the end of a run.
type saidEnd struct {
	loop.Result
	err error
}

// runs makes a run in a goroutine, in a pool if wanted.
func runs(t *testing.T, pooled bool, model loop.Model, s *session.Session, cfg loop.Config) <-chan saidEnd {
	done := make(chan saidEnd, 1)
	in := loop.Input{Prompt: "Where to?"}
	go func() {
		if !pooled {
			result, err := fixture.Run(t.Context(), model, s, in, cfg)
			done <- saidEnd{result, err}
			return
		}
		pool, err := loop.NewPool(loop.PoolConfig{Model: model, Config: cfg, Done: func(_ *session.Session, r loop.Result, err error) {
			done <- saidEnd{r, err}
		}})
		if err == nil {
			_, err = pool.Add(s, in)
		}
		if err == nil {
			err = pool.Run(t.Context(), 1)
		}
		if t.Context().Err() == nil { // else the test, which has the end of its run, is over
			assert.NoError(t, err)
		}
	}()
	return done
}

// A message may stop a model call that is under way, from this process or another one.
func TestAMessageMayStopAModelCall(t *testing.T) {
	for _, pooled := range []bool{false, true} {
		for _, outside := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				store := new(postbox)
				model := &slowly{Model: looptest.NewModel(looptest.Say("To Rome."))}
				s := fixture.In(nil, store.open(t, "order-42"))
				done := runs(t, pooled, model, s, loop.Config{})
				time.Sleep(time.Second / 2)
				w := session.Words{Text: "Rather to Italy.", Stop: true, At: time.Now()}
				if outside {
					require.NoError(t, inbox.Say(t.Context(), store, "order-42", w))
				} else {
					require.NoError(t, s.Say(w))
				}
				began := time.Now()
				result := <-done
				require.NoError(t, result.err)
				assert.LessOrEqual(t, time.Since(began), time.Minute+time.Second)
				assert.EqualValues(t, 1, model.left.Load())
				require.Len(t, model.Requests(), 1)
				assert.Equal(t, []string{"Where to?", "Rather to Italy."}, texts(model.Requests()[0]))
				assert.Equal(t, 1, result.Turns)
			})
		}
	}
}

// A message that stops takes back what a person is asked; one that does not waits for the answer.
func TestAMessageMayTakeAQuestionBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made payments
		store, model := new(postbox), askedPayer()
		s := fixture.In(nil, store.open(t, "order-42"))
		done := runs(t, true, model, s, made.config(t))
		time.Sleep(time.Second)
		require.NoError(t, s.Say(session.Words{Text: "She is called Anne."}))
		time.Sleep(time.Second)
		q := store.pending(t)[0]
		require.NoError(t, s.Say(session.Words{Text: "Do not pay.", Stop: true}))
		require.NoError(t, (<-done).err)
		assert.Empty(t, made.calls)
		said := model.Requests()[1].Messages
		assert.Contains(t, said[2].Text, "Not run: the user has said something first.")
		assert.Equal(t, []string{"Where to?", "She is called Anne.", "Do not pay."}, texts(model.Requests()[1]))
		require.ErrorIs(t, store.answer(t, q, machine.Approve), machine.ErrMovedOn)
	})
}

// Attempts stay as they are unless the message begins them anew.
func TestAMessageBeginsAttemptsAnewOnlyIfItSaysSo(t *testing.T) {
	for _, reset := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			model := &slowly{Model: looptest.NewModel(looptest.Say(""), looptest.Say(""), looptest.Say(""), looptest.Say("To Rome."))}
			set := policy.DefaultSet()
			set.Global.MaxAttempts = new(3)
			s := fixture.In(nil, new(postbox).open(t, "order-42"))
			done := runs(t, false, model, s, loop.Config{Policy: &set})
			time.Sleep(150 * time.Second)
			require.NoError(t, s.Say(session.Words{Text: "Say something.", Reset: reset}))
			assert.Equal(t, reset, (<-done).err == nil)
		})
	}
}

// What a process could not remove from the inbox before it died is not said again, not even to the next run.
func TestAMessageIsHeardOnce(t *testing.T) {
	store := &postbox{stuck: true}
	s := fixture.In(nil, store.open(t, "order-42"))
	require.NoError(t, store.Put(t.Context(), "order-42", journal.Item{Kind: journal.MessageItem, Key: "m1", At: looptest.Epoch,
		Body: []byte(`{"text":"By train."}`)}))
	model := looptest.NewModel(looptest.Say("To Rome."), looptest.Say("At noon."))
	result, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Where to?"}, loop.Config{})
	require.NoError(t, err)
	assert.Empty(t, result.Warnings)
	store.stuck = false
	_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "When?"}, loop.Config{})
	require.NoError(t, err)
	assert.Equal(t, []string{"Where to?", "By train.", "When?"}, texts(model.Requests()[1]))
	store.empty(t)
}

// A message that was accepted is not lost with the process: the run that is resumed hears it, once. A
// redacted journal leaves it nowhere in clear, and forgets it.
func TestAMessageOutlivesTheProcess(t *testing.T) {
	redact := journal.Settings{Redact: &journal.Redaction{Prompts: true, Transcripts: &kept{texts: map[string]string{}}}}
	for name, settings := range map[string]journal.Settings{"clear": {}, "redacted": redact} {
		t.Run(name, func(t *testing.T) {
			store := new(postbox)
			open := func() (*session.Session, func()) {
				j, err := journal.Open(t.Context(), store, "order-42", settings)
				require.NoError(t, err)
				return fixture.In(nil, j), func() { require.NoError(t, j.Close()) }
			}
			s, closes := open()
			model := looptest.NewModel(looptest.Say("To Rome."))
			assert.Panics(t, func() {
				_, _ = fixture.Run(t.Context(), &during{model, func() {
					require.NoError(t, s.Say(session.Words{Text: "By train.", By: "Ann", At: looptest.Epoch}))
					panic("the process dies")
				}}, s, loop.Input{Prompt: "Where to?"}, loop.Config{})
			})
			closes()
			said, heard := 1, []string{"Where to?", "By train."}
			if settings.Redact != nil {
				said, heard = 0, heard[:1]
			}
			items, err := store.Items(t.Context(), "order-42")
			require.NoError(t, err)
			require.Len(t, items, said)

			s, closes = open()
			_, err = fixture.Resume(t.Context(), model, s, loop.Config{})
			require.NoError(t, err)
			closes()
			assert.Equal(t, heard, texts(model.Requests()[0]))
			store.empty(t)
		})
	}
}

// crammed is a store whose inbox takes nothing more.
type crammed struct{ postbox }

func (*crammed) Put(context.Context, string, journal.Item) error { return journal.ErrInboxFull }

// A message that cannot be kept is refused, and not heard.
func TestAMessageThatCannotBeKeptIsRefused(t *testing.T) {
	store := new(crammed)
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	s := fixture.In(nil, j)
	model := looptest.NewModel(looptest.Say("To Rome."))
	_, err = fixture.Run(t.Context(), &during{model, func() {
		require.ErrorIs(t, s.Say(session.Words{Text: "By train."}), journal.ErrInboxFull)
	}}, s, loop.Input{Prompt: "Where to?"}, loop.Config{})
	require.NoError(t, err)
	assert.Len(t, model.Requests(), 1, "nothing was said that needs another answer")
}

// during is a model in whose calls something happens.
type during struct {
	*looptest.Model
	then func()
}

func (d *during) Reply(ctx context.Context, r loop.Request) (message.Reply, error) {
	d.then()
	return d.Model.Reply(ctx, r)
}
