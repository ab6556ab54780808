package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// failing makes a run of at most so many attempts whose model always gives a reply and an error, and
// returns its journal as it is when the model is called for the n-th time, or has no attempt left.
func failing(t *testing.T, name string, attempts, n int, err error) []byte {
	t.Helper()
	store := &looptest.Store{}
	j, opening := journal.Open(t.Context(), store, name, journal.Settings{})
	require.NoError(t, opening)
	s, opening := session.New(session.Config{ID: name, Journal: j})
	require.NoError(t, opening)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var text []byte
	called := 0
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		if called++; called == n {
			text = store.Text(name)
			stop()
		}
		return message.Reply{Finish: message.Stop}, err // without a text
	})
	set := policy.DefaultSet()
	set.Transport.MaxAttempts, set.Global.MaxAttempts = &attempts, &attempts
	_, ended := fixture.Run(ctx, model, s, loop.Input{Prompt: "Go."}, loop.Config{Policy: &set}, loop.WithClock(looptest.NewClock()))
	require.Error(t, ended)
	if text == nil {
		text = store.Text(name)
	}
	return text
}

func TestAttemptsAreNumbers(t *testing.T) {
	dir := t.TempDir()
	for name, most := range map[string]int{"few": 2, "many": 12, "some": 9} {
		put(t, dir, name+".jsonl", failing(t, name, most, -1, &fault.ProviderError{Class: fault.Overloaded, Message: "busy"}))
	}
	put(t, dir, "first.jsonl", failing(t, "first", policy.Unlimited, 1, nil))
	put(t, dir, "second.jsonl", failing(t, "second", policy.Unlimited, 2, nil))
	rows := func(query string) (order []string) {
		page := body(t, ask(t, open(t, dir, soonAfter), "GET", "/?"+query))
		for _, name := range []string{"many", "some", "few", "second", "first"} {
			if at := strings.Index(page, "session?"+url.Values{"id": {name}}.Encode()+`"`); at >= 0 {
				order = append(order, fmt.Sprintf("%06d %s", at, name))
			}
		}
		return order
	}
	var all []string
	require.Eventually(t, func() bool { all = rows("sort=attempt"); return len(all) == 5 }, 20*time.Second, time.Millisecond,
		"a page shows what was read by then")
	assert.IsIncreasing(t, all, "the most attempts first")
	var retrying []string
	require.Eventually(t, func() bool { retrying = rows("retry=1"); return len(retrying) == 1 }, 20*time.Second, time.Millisecond,
		"it was read by then")
	assert.Contains(t, retrying[0], "second")
	var answer struct{ Sessions []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(body(t, ask(t, open(t, dir), "GET", "/api/sessions"))), &answer))
	assert.Len(t, answer.Sessions, 5)
}
