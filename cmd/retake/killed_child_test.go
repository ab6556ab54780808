//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	agents "github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// tripIn makes a process run the session trip in a folder: agents in agents. See [trip].
const tripIn = "RETAKE_TEST_TRIP_IN"

func init() {
	dir := os.Getenv(tripIn)
	if dir == "" {
		return
	}
	r, err := trip(mortalStore()(dir), filepath.Join(dir, "done"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(r)
	os.Exit(0)
}

// tripEnd is how a trip ended.
type tripEnd struct {
	Text    string
	InDoubt int
	Usage   message.Usage
}

// inTurn is a model that makes one call after another, whatever comes of them, and then says what it was
// told.
func inTurn(calls ...message.Call) loop.Model {
	return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		var told []string
		for _, m := range r.Messages {
			if m.Role == message.Tool {
				told = append(told, m.Text)
			}
		}
		used := message.Usage{InputTokens: 100, OutputTokens: 10, APICalls: 1}
		if n := len(told); n < len(calls) {
			return message.Reply{Calls: calls[n : n+1], Finish: message.ToolUse, Usage: used}, nil
		}
		return message.Reply{Text: strings.Join(told, "; "), Finish: message.Stop, Usage: used}, nil
	})
}

// trip runs a guide, who has a clerk, who pays and then books. Paying may be done once only; booking is known
// by its key. Each is a line in the file done.
func trip(store journal.Store, done string) (*tripEnd, error) {
	does := func(ctx context.Context, name string) (string, error) {
		f, err := os.OpenFile(done, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		defer f.Close()
		_, err = fmt.Fprintln(f, name, tool.SessionID(ctx), tool.IdempotencyKey(ctx))
		if os.Getenv(dieAt) == name {
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		}
		return name + " done", err
	}
	one := func(name string, opts ...tool.Option) *tool.Tool {
		return tool.New(name, "Does it.", func(ctx context.Context, _ struct{}) (string, error) { return does(ctx, name) }, opts...)
	}
	tools, err := tool.NewSet(one("pay"), one("book", tool.Idempotent()))
	if err != nil {
		return nil, err
	}
	calls := []message.Call{{ID: "c1", Name: "pay", Arguments: `{}`}, {ID: "c2", Name: "book", Arguments: `{}`}}
	for _, name := range []string{"clerk", "guide"} {
		made, err := agents.AsTool(name, "Does it.", inTurn(calls...), loop.Config{Tools: tools})
		if err != nil {
			return nil, err
		}
		if tools, err = tool.NewSet(made); err != nil {
			return nil, err
		}
		calls = []message.Call{{ID: "c1", Name: name, Arguments: `{"task":"Lisbon."}`}}
	}
	j, err := journal.Open(context.Background(), store, "trip", journal.Settings{})
	if err != nil {
		return nil, err
	}
	s, err := session.New(session.Config{Journal: j, ID: "trip"})
	if err != nil {
		return nil, err
	}
	l, err := loop.New(inTurn(calls...), loop.Config{Tools: tools})
	if err != nil {
		return nil, err
	}
	r, err := l.Run(context.Background(), s, loop.Input{Prompt: "Go.", RequestID: "r1"})
	return &tripEnd{r.Text, len(r.InDoubt), r.Usage}, err
}

// doneIn counts what was done, by its line.
func doneIn(t *testing.T, dir string) map[string]int {
	text, err := os.ReadFile(filepath.Join(dir, "done"))
	require.NoError(t, err)
	done := map[string]int{}
	for line := range strings.Lines(string(text)) {
		done[line]++
	}
	return done
}

// A process is killed again and again while an agent in an agent is at work: each next one goes on inside.
// Nothing is done twice that may be done once only, nothing is lost or denied, and usage is counted once.
func TestARunWhoseAgentIsKilledGoesOnInside(t *testing.T) {
	most := 150
	if testing.Short() {
		most = 15
	}
	runs := func(dir, die string) (end tripEnd, dead bool) {
		t.Setenv(tripIn, dir)
		out, dead := runsOrDies(t, die)
		if !dead {
			require.NoError(t, json.Unmarshal([]byte(out), &end), out)
		}
		return end, dead
	}
	whole := t.TempDir()
	want, dead := runs(whole, "")
	require.False(t, dead)
	require.Equal(t, tripEnd{"pay done; book done", 0, message.Usage{InputTokens: 700, OutputTokens: 70, APICalls: 7}}, want)
	wanted := doneIn(t, whole)
	require.Len(t, wanted, 2)
	size := 0
	for _, text := range chainsOf(t, whole) {
		size += len(text)
	}
	random := rand.New(rand.NewPCG(3, 4))
	kills, doubts, first := 0, 0, "pay"
	for kills < most {
		dir := t.TempDir()
		end, dead := runs(dir, first)
		first = fmt.Sprintf("%s:%d", []string{"self", "self", "other"}[random.IntN(3)], 1+random.IntN(size))
		for ; dead; end, dead = runs(dir, fmt.Sprintf("self:%d", 1+random.IntN(size))) {
			kills++
		}
		for line, times := range doneIn(t, dir) {
			assert.Contains(t, wanted, line, "the keys are those of a run that was not killed")
			if strings.HasPrefix(line, "pay ") {
				assert.Equal(t, 1, times, line)
			}
		}
		unsure := strings.Contains(end.Text, "The outcome of this call is not known")
		if !unsure {
			assert.Equal(t, want.Text, end.Text)
			assert.Len(t, doneIn(t, dir), 2)
		}
		assert.Equal(t, unsure, end.InDoubt == 1, "what is in doubt inside is so outside: %+v", end)
		assert.Equal(t, want.Usage, end.Usage)
		if unsure {
			doubts++
		}
		for _, session := range []string{"trip", "trip.1.1.1", "trip.1.1.1.1.1.1"} {
			f, err := os.Open(filepath.Join(dir, session+".jsonl"))
			require.NoError(t, err)
			_, err = journal.Replay(f, nil)
			require.NoError(t, errors.Join(err, f.Close()))
		}
	}
	assert.NotZero(t, doubts, "the first was killed when it had paid")
	t.Logf("%d kills over %d bytes of journals; %d runs ended with a payment in doubt", kills, size, doubts)
}

// The console links each session to that of its agent, and counts what that left in doubt for the runs
// around it.
func TestTheConsoleLinksToTheAgentOfAKilledRun(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(tripIn, dir)
	_, dead := runsOrDies(t, "pay")
	require.True(t, dead)
	home, token := served(t, nil, dir)
	_, answer := get(t, home+"api/sessions?"+token)
	assert.Equal(t, 3, strings.Count(answer, `"in_doubt":1`), answer)
	for outer, inner := range map[string]string{"trip": "trip.1.1.1", "trip.1.1.1": "trip.1.1.1.1.1.1"} {
		status, page := get(t, home+"session?id="+outer+"&"+token)
		require.Equal(t, http.StatusOK, status)
		assert.Contains(t, page, `<a href="session?id=`+inner+`">`+inner+`</a>: interrupted. no process since`)
	}
}
