package report_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// spent returns the state of the core after each line of a journal.
func spent(t *testing.T, text []byte) map[int64]machine.State {
	t.Helper()
	after := map[int64]machine.State{}
	var st machine.State
	r := journal.NewReader(bytes.NewReader(text))
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return after
		}
		switch {
		case rec.Header != nil:
			held := st.Session
			if rec.Header.State != nil {
				held, err = session.ParseState(rec.Header.State)
				require.NoError(t, err)
			}
			st, err = machine.New(rec.Header.Config, held)
		case rec.Event != nil:
			_, err = machine.Step(&st, rec.Event)
		case rec.Snapshot != nil:
			st, err = machine.Restore(rec.Snapshot.State)
		}
		require.NoError(t, err)
		after[r.Line()] = st
	}
}

// failing makes the journal of a run with a bad call, a tool that breaks, and another bad call.
func failing(t *testing.T) []byte {
	t.Helper()
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "order-42"})
	require.NoError(t, err)
	tools, err := tool.NewSet(tool.New("book_room", "Books.", func(context.Context, guest) (string, error) {
		return "", fixture.Refused{Class: fault.Unavailable}
	}))
	require.NoError(t, err)
	bad := looptest.Call(message.Call{ID: "c1", Name: "book_room", Arguments: `{"name": "` + strings.Repeat("long ", 2_000) + `", "age": 400}`})
	good := looptest.Call(message.Call{ID: "c2", Name: "book_room", Arguments: `{"name": "Ada", "age": 36}`})
	_, err = fixture.Run(t.Context(), looptest.NewModel(bad, good, bad, looptest.Say("Sorry.")), fixture.In(s, j), loop.Input{Prompt: "Book."},
		loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	return store.Text("order-42")
}

// What is left of the budgets is as the core counts it, also for failures that cost no attempt.
func TestWhatIsLeftIsAsTheCoreCountsIt(t *testing.T) {
	all := map[string][]byte{"failing": failing(t)}
	for name := range stories {
		all[name] = read(t, name)
	}
	for name, text := range all {
		core := spent(t, text)
		last := map[int64]map[string]any{}
		for line := range strings.Lines(show(t, "json", text)) {
			var e struct {
				Line int64
				Left map[string]any
			}
			require.NoError(t, json.Unmarshal([]byte(line), &e))
			if e.Left["run"] != nil {
				last[e.Line] = e.Left
			}
		}
		require.NotEmpty(t, last)
		for line, left := range last {
			st := core[line]
			assert.InDelta(t, st.Config.Policy.Budgets.Run-st.Failed.Run, left["run"], 0, "%s: line %d", name, line)
			assert.InDelta(t, max(0, st.Config.Policy.Budgets.UnknownTools-st.Failed.Unknown), left["unknown_tools"], 0, "%s: line %d", name, line)
			if tool, counted := left["tool"]; counted {
				assert.NotEqual(t, policy.Unlimited, tool)
				assert.InDelta(t, st.Config.Policy.Budgets.Tool-st.Failed.Tools[0].Failed, tool, 0, "%s: line %d", name, line)
			}
		}
	}
}

// chained returns records as the lines of a journal, with their hashes.
func chained(records ...string) string {
	var b strings.Builder
	head := strings.Repeat("0", 32)
	for _, rec := range records {
		sum := sha256.Sum256([]byte(head + rec))
		hash := hex.EncodeToString(sum[:16])
		b.WriteString(`{"hash":"` + hash + `","record":` + rec + "}\n")
		if !strings.HasPrefix(rec, `{"note":`) {
			head = hash
		}
	}
	return b.String()
}

// FuzzRead shows journals with arbitrary records. It adds the right hashes, because a reader stops at
// a wrong one.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"long", "hostile"} {
		var records []string
		text, err := os.ReadFile("testdata/" + name + ".jsonl")
		require.NoError(f, err)
		for line := range bytes.Lines(text) {
			_, rec, _ := bytes.Cut(bytes.TrimSpace(line), []byte(`","record":`))
			records = append(records, string(rec[:len(rec)-1]))
		}
		f.Add(strings.Join(records[:12], "\n"))
		for n := 1; n < len(records); n += 5 {
			f.Add(records[0] + "\n" + records[n])
		}
	}
	f.Add(`{"note":{"kind":"torn"}}`)
	f.Fuzz(func(t *testing.T, records string) {
		text := chained(strings.Split(records, "\n")...)
		for form, write := range forms {
			var out bytes.Buffer
			if err := write(&out, strings.NewReader(text)); err != nil {
				require.ErrorIs(t, err, journal.ErrCorrupt, form)
			}
			require.NotContains(t, out.String(), "\x1b", form)
			if form == "html" {
				require.Equal(t, 1, strings.Count(strings.ToLower(out.String()), "<script"))
			}
		}
	})
}
