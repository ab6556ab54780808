package console_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
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
	"github.com/retake-go/retake/report/console"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// Another server of the same host may set cookies of the same name, for paths that browsers send first. They
// lock nobody out, and open nothing.
func TestCookiesOfAnotherServerLockNobodyOut(t *testing.T) {
	c := open(t, folder(t))
	foreign := func(values ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Cookie")
			for _, value := range values {
				r.AddCookie(&http.Cookie{Name: "retake8080", Value: value})
			}
		}
	}
	assert.Equal(t, http.StatusOK, ask(t, c, "GET", "/inbox", foreign("foreign", "", token)).StatusCode)
	assert.Equal(t, http.StatusForbidden, ask(t, c, "GET", "/inbox", foreign("foreign", "", token[1:])).StatusCode)
}

// keyed is a folder with a session that has a secret in every place that a text can stand, and asks a person.
// Its first call was refused, its second ran, its third failed, and its fourth waits for an answer that is in
// the inbox, with a message.
func keyed(t *testing.T, secret string) string {
	dir := journal.Dir(t.TempDir())
	j, err := journal.Open(t.Context(), dir, "order-7", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "order-7", Journal: j})
	require.NoError(t, err)
	ctx, leave := context.WithCancelCause(t.Context())
	ran, asked := 0, 0
	set, err := tool.NewSet(tool.New("pay", "Pays.", func(context.Context, struct {
		To    string `json:"to"`
		Cents int    `json:"cents"`
		Note  string `json:"note,omitempty" retake:"echo" validate:"max=3"`
	}) (string, error) {
		if ran++; ran == 1 {
			return "paid with " + secret, nil
		}
		return "", tool.Fail("refused for " + secret)
	}, always))
	require.NoError(t, err)
	answer := machine.Response{By: secret, Words: "not with " + secret}
	approver := func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
		if asked++; asked == 4 {
			answer.Question, answer.Verdict = q.ID, machine.Refuse
			leave(loop.ErrSuspended)
			return machine.Response{}, nil
		}
		said := machine.Response{Verdict: machine.Approve, By: secret}
		if asked == 1 {
			said = answer
			said.Verdict = machine.Refuse
		}
		return said, nil
	}
	turns := []looptest.Turn{looptest.Call(message.Call{ID: secret, Name: secret, Arguments: "{}"}),
		looptest.Call(message.Call{Name: "pay", Arguments: fmt.Sprintf(`{"to":"ACME","cents":1,"note":%q,%q:1}`, secret, secret)})}
	for cents := range 4 {
		turn := looptest.Call(message.Call{Name: "pay", Arguments: fmt.Sprintf(`{"to":%q,"cents":%d}`, secret, cents)})
		turn.Reply.Text, turn.Reply.Model, turn.Reply.Usage.InputTokens = "I say "+secret, secret, 9
		turns = append(turns, turn)
	}
	_, err = fixture.Run(ctx, looptest.NewModel(turns...), s, loop.Input{Prompt: "Pay with " + secret},
		loop.Config{Tools: set}, loop.WithApprover(approver), loop.WithClock(looptest.NewClock()))
	require.ErrorIs(t, err, loop.ErrSuspended)
	require.NoError(t, j.Close())
	answer.At = looptest.Epoch
	require.NoError(t, inbox.Answer(t.Context(), dir, "order-7", answer))
	require.NoError(t, inbox.Say(t.Context(), dir, "order-7", session.Words{ID: "w", Text: secret, By: secret, At: looptest.Epoch}))
	return string(dir)
}

// What has the form of a key is told nowhere, and nobody finds it by a search, unless secrets are shown.
func TestAKeyIsToldNowhere(t *testing.T) {
	const secret = "sk-proj-4f9QzX7bT2LmN8vRkW3yHcJd"
	dir := keyed(t, secret)
	whole := open(t, dir, soonAfter, func(s *console.Settings) { s.ShowSecrets = true })
	c, shown := open(t, dir, soonAfter), 0
	for _, target := range []string{"/", "/?tool=pay", "/inbox", "/session?id=order-7", "/session?id=order-7&part=r1-1", "/api/sessions"} {
		r := ask(t, c, "GET", target)
		assert.Equal(t, http.StatusOK, r.StatusCode, target)
		assert.NotContains(t, body(t, r), "4f9Qz", target)
		shown += strings.Count(body(t, ask(t, whole, "GET", target)), secret)
	}
	assert.Greater(t, shown, 30)
	for _, target := range []string{"/events?q=", "/events?inbox=1", "/events?id=order-7"} {
		assert.NotContains(t, stream(t, c, target)(), "4f9Qz", target)
	}
	const none = `{"sessions":[]}`
	assert.Equal(t, none, strings.TrimSpace(body(t, ask(t, c, "GET", "/api/sessions?q=sk-proj-4"))))
	assert.NotEqual(t, none, strings.TrimSpace(body(t, ask(t, whole, "GET", "/api/sessions?q=sk-proj-4"))))
}

// Values that a tool's schema marks as secret stand on no page, whatever they are: neither those that a
// person was asked about nor those of other calls of the tool, in other runs too, valid or not.
func TestValuesMarkedAsSecretAreOnNoPage(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	type card struct {
		To  string `json:"to"`
		Pin string `json:"pin" retake:"secret" validate:"max=8"`
	}
	asks := tool.New("pay", "Pays.", func(context.Context, card) (string, error) { return "paid", nil },
		tool.NeedsApproval(func(in card) bool { return in.To == "ACME" }))
	set, err := tool.NewSet(asks)
	require.NoError(t, err)
	for n, arguments := range [][]string{
		{`{"to":"Bolt","pin":"hunter1"}`, `{"to":"ACME","pin":"hunter2"}`},
		{`{"to":"Bolt","pin":"hunter3"}`, `{"to":"ACME","pin":"hunter4hunter4"}`, `{"to":"Bolt","pin":"hunter5"}`, `{to:"ACME",'pin':hunter6}`, `{"to":"ACME","pin":"hunter7"}`},
	} {
		j, err := journal.Open(t.Context(), dir, "order-7", journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{ID: "order-7", Journal: j})
		require.NoError(t, err)
		ctx, leave := context.WithCancelCause(t.Context())
		approver := func(context.Context, loop.PersonQuestion) (machine.Response, error) {
			if n > 0 {
				leave(loop.ErrSuspended)
				return machine.Response{}, nil
			}
			return machine.Response{Verdict: machine.Refuse, Words: "No."}, nil
		}
		var turns []looptest.Turn
		for _, a := range arguments {
			turns = append(turns, looptest.Call(message.Call{Name: "pay", Arguments: a}))
		}
		_, err = fixture.Run(ctx, looptest.NewModel(append(turns, looptest.Say("Well."))...), s, loop.Input{Prompt: "Pay."},
			loop.Config{Tools: set}, loop.WithApprover(approver), loop.WithClock(looptest.NewClock()))
		require.NoError(t, j.Close())
		if n > 0 {
			require.ErrorIs(t, err, loop.ErrSuspended)
		}
	}
	whole := open(t, string(dir), soonAfter, func(s *console.Settings) { s.ShowSecrets = true })
	c, page := open(t, string(dir), soonAfter), body(t, ask(t, whole, "GET", "/session?id=order-7"))
	for n := range 7 {
		assert.Contains(t, page, fmt.Sprint("hunter", n+1))
	}
	for _, target := range []string{"/", "/inbox", "/session?id=order-7", "/session?id=order-7&part=r2-1", "/api/sessions"} {
		assert.NotContains(t, body(t, ask(t, c, "GET", target)), "hunter", target)
	}
	assert.Contains(t, body(t, ask(t, c, "GET", "/session?id=order-7")), "pay ACME, [secret]")
}

// A journal that is cut, replaced, or written over while a process holds it is told as whoever reads it for
// the first time tells it.
func TestAJournalThatIsReplacedWhileItIsHeld(t *testing.T) {
	whole, other := named(t, "a", -1), asked(t, "a", acme, time.Hour, pay(always))
	lines := bytes.SplitAfter(whole, []byte("\n"))
	half := bytes.Join(lines[:6], nil)
	for name, next := range map[string][]byte{
		"it grew": whole, "it was cut": bytes.Join(lines[:4], nil), "it was cut within a line": half[:len(half)-7],
		"another is longer": other, "another goes on like it": append(bytes.Clone(other), lines[6]...),
		"zeros": make([]byte, len(half)+100), "nothing": nil,
	} {
		dir, clock := t.TempDir(), byHand{new(atomic.Int64)}
		log, err := journal.Dir(dir).Open(t.Context(), "a")
		require.NoError(t, err)
		require.NoError(t, log.Append(t.Context(), 0, half, false))
		at := func(s *console.Settings) { s.Clock = clock }
		c := open(t, dir, at)
		before := body(t, ask(t, c, "GET", "/api/sessions"))
		file, err := os.OpenFile(filepath.Join(dir, "a.jsonl"), os.O_WRONLY|os.O_TRUNC, 0)
		require.NoError(t, err)
		_, err = file.Write(next)
		require.NoError(t, errors.Join(err, file.Close()))
		clock.passed.Add(int64(time.Second))
		after := body(t, ask(t, c, "GET", "/api/sessions"))
		assert.NotEqual(t, before, after, name)
		assert.Equal(t, body(t, ask(t, open(t, dir, at), "GET", "/api/sessions")), after, name)
		require.NoError(t, log.Close())
	}
}

// Who wrote a message and what was wrong with a call are names that a journal from elsewhere may have made
// up.
func TestRolesAndClassesAreWhatTheySeem(t *testing.T) {
	dir := t.TempDir()
	var records []string
	for line := range bytes.Lines(named(t, "order-7", -1)) {
		records = append(records, strings.NewReplacer(`"role":"user"`, `"role":"user\u202e"`, `"class":"tool_validation"`, `"class":"tool\u202e"`).Replace(record(t, line)))
	}
	put(t, dir, "order-7.jsonl", chain(records...))
	page := body(t, ask(t, open(t, dir), "GET", "/session?id=order-7"))
	assert.Contains(t, page, "lost: tool⟨U&#43;202E⟩")
	assert.NotContains(t, page, "\u202e")
}
