package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/sealed"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts expect anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"retake": main})
}

// The scripts have the output and the exit status of each command.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *rewrite,
		// Under the race detector a program would linger for a second at its end.
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			e.Setenv("EVIL", evil)
			crafted, err := os.ReadFile("../../report/testdata/hostile.jsonl")
			if err == nil {
				err = os.WriteFile(filepath.Join(e.WorkDir, "hostile.jsonl"), crafted, 0o600)
			}
			return errors.Join(err, os.CopyFS(e.WorkDir, os.DirFS("../../testdata/journals/v1")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "hostile": hostile, "clean": clean, "database": database, "owned": owned, "limited": limited,
			"aged": aged, "seal": seal, "stuck": stuck, "foreign": foreign,
		},
	})
}

// evil must never reach a terminal: escape sequences, C1 controls, marks of direction, invalid UTF-8.
const evil = "e\x1b[2J\x1b]0;x\x07\u009b31m\u202e\u2066\u200f\xffe"

// hostile replaces EVIL in files by the evil text and a NUL, and ESCAPED by the same in JSON escapes:
// hostile FILE...
func hostile(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		escaped := strings.Trim(strconv.QuoteToASCII(strings.ToValidUTF8(evil, "")), `"`)
		escaped = strings.NewReplacer(`\x`, `\u00`, `\a`, `\u0007`).Replace(escaped) + `\u0000`
		text := strings.NewReplacer("EVIL", evil+"\x00", "ESCAPED", escaped).Replace(ts.ReadFile(name))
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

// clean fails if the last command wrote nothing, or characters that do not print: clean stdout, clean stderr.
func clean(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text := ts.ReadFile(name)
		raw := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) })
		if text == "" || raw >= 0 || !utf8.ValidString(text) {
			ts.Fatalf("%s is empty or raw: %q", name, text)
		}
	}
}

// database makes a SQLite database with the journals of files, by the ids of sessions: database DB ID=FILE...
func database(ts *testscript.TestScript, neg bool, args []string) {
	store, err := sqlite.Open(context.Background(), ts.MkAbs(args[0]))
	ts.Check(err)
	for _, arg := range args[1:] {
		id, file, _ := strings.Cut(arg, "=")
		log, err := store.Open(context.Background(), id)
		ts.Check(err)
		ts.Check(log.Append(context.Background(), 0, []byte(ts.ReadFile(file)), true))
		ts.Check(log.Close())
	}
	ts.Check(store.Close())
}

// foreign makes a SQLite database of another program: foreign DB.
func foreign(ts *testscript.TestScript, neg bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.ExecContext(context.Background(), "CREATE TABLE places (name TEXT)")
	ts.Check(errors.Join(err, db.Close()))
}

// limited records a run in a database, whose model is limited once: limited DB ID.
func limited(ts *testscript.TestScript, neg bool, args []string) {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ts.MkAbs(args[0]))
	ts.Check(err)
	j, err := journal.Open(ctx, store, args[1], journal.Settings{})
	ts.Check(err)
	headers := map[string][]string{
		"retry-after": {"2"}, "x-ratelimit-limit-requests": {"60"}, "x-ratelimit-remaining-requests": {"0"}}
	refused := &ratelimit.LimitedError{State: ratelimit.Parse(headers, looptest.Epoch), Err: fault.AsError(fault.Response{Status: 429, Headers: headers})}
	model := looptest.NewModel(looptest.Fail(refused), looptest.Say("Hello."))
	l, err := loop.New(model, loop.Config{}, loop.WithClock(looptest.NewClock()))
	ts.Check(err)
	s, err := session.New(session.Config{Journal: j})
	ts.Check(err)
	_, err = l.Run(ctx, s, loop.Input{Prompt: "Hi."})
	ts.Check(err)
	ts.Check(errors.Join(j.Close(), store.Close()))
}

// aged records a run of the year 2020 in a folder, or in a database if its name ends in .db. It ends well,
// fails, or is left: aged STORE ID done|failed|left.
func aged(ts *testscript.TestScript, neg bool, args []string) {
	ctx, leave := context.WithCancelCause(context.Background())
	var store journal.Store = journal.Dir(ts.MkAbs(args[0]))
	if strings.HasSuffix(args[0], ".db") {
		db, err := sqlite.Open(ctx, ts.MkAbs(args[0]))
		ts.Check(err)
		defer func() { ts.Check(db.Close()) }()
		store = db
	}
	j, err := journal.Open(ctx, store, args[1], journal.Settings{})
	ts.Check(err)
	defer func() { ts.Check(j.Close()) }()
	clock := looptest.NewClock()
	clock.Set(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	model := func(context.Context, loop.Request) (message.Reply, error) {
		switch args[2] {
		case "left":
			leave(loop.ErrSuspended)
			return message.Reply{}, ctx.Err()
		case "failed":
			return message.Reply{}, fault.AsError(fault.Response{Status: 401})
		}
		return message.Reply{Text: "Hello.", Finish: message.Stop}, nil
	}
	l, err := loop.New(loop.ModelFunc(model), loop.Config{}, loop.WithClock(clock))
	ts.Check(err)
	s, err := session.New(session.Config{Journal: j})
	ts.Check(err)
	if _, err = l.Run(ctx, s, loop.Input{Prompt: "Hi.", RequestID: args[1]}); (err == nil) != (args[2] == "done") {
		ts.Fatalf("the run ended with %v", err)
	}
}

// stuck records a run in a folder whose call was not accepted, has no attempt left and waits for a person.
// CALL is then its question. Given what the tool is to get, it goes on with the run, which must end: stuck
// STORE ID [ARGUMENTS].
func stuck(ts *testscript.TestScript, neg bool, args []string) {
	ctx, leave := context.WithCancelCause(context.Background())
	j, err := journal.Open(ctx, journal.Dir(ts.MkAbs(args[0])), args[1], journal.Settings{})
	ts.Check(err)
	defer func() { ts.Check(j.Close()) }()
	paid := ""
	pay, err := tool.Raw("pay", "Pays.", []byte(`{"type":"object","properties":{"cents":{"type":"integer"}},`+
		`"required":["cents"],"additionalProperties":false}`), func(_ context.Context, a json.RawMessage) (json.RawMessage, error) {
		paid += string(a)
		return json.RawMessage(`"paid"`), nil
	})
	ts.Check(err)
	tools, err := tool.NewSet(pay)
	ts.Check(err)
	set := policy.DefaultSet()
	set.Global.MaxAttempts, set.Global.Approval = new(1), &policy.Approval{Exhausted: policy.ExhaustedAsk}
	nobody := func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		leave(loop.ErrSuspended)
		return machine.Response{}, nil
	}
	model := looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"cents":"500"}`}))
	if len(args) > 2 {
		model = looptest.NewModel(looptest.Say("It is paid."))
	}
	l, err := loop.New(model, loop.Config{Tools: tools, Policy: &set}, loop.WithApprover(nobody))
	ts.Check(err)
	s, err := session.New(session.Config{Journal: j})
	ts.Check(err)
	if len(args) > 2 {
		if _, err = l.Resume(ctx, s); err != nil || paid != args[2] {
			ts.Fatalf("the tool got %s, and the run ended with %v", paid, err)
		}
		return
	}
	if _, err = l.Run(ctx, s, loop.Input{Prompt: "Pay 500."}); !errors.Is(err, loop.ErrSuspended) {
		ts.Fatalf("the run ended with %v", err)
	}
	past, err := j.Past()
	ts.Check(err)
	ts.Setenv("CALL", past.State.Asks()[0].ID)
}

// owned opens the journal of a session, appends a file to it if one is given, and holds it until the script
// ends: owned DB ID [FILE].
func owned(ts *testscript.TestScript, neg bool, args []string) {
	store, err := sqlite.Open(context.Background(), ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { _ = store.Close() })
	log, err := store.Open(context.Background(), args[1])
	ts.Check(err)
	if len(args) > 2 {
		ts.Check(log.Append(context.Background(), 0, []byte(ts.ReadFile(args[2])), true))
	}
}

// status runs a command and checks its exit status: status 2 retake ...
func status(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: status CODE command ...")
	}
	err = ts.Exec(args[1], args[2:]...)
	var ended *exec.ExitError
	got := 0
	if e, ok := err.(*exec.ExitError); ok {
		ended, got = e, e.ExitCode()
	}
	if got != want || (err != nil && ended == nil) {
		ts.Fatalf("%v ended with %d (%v), want %d", args[1:], got, err, want)
	}
}

// seal seals a journal, as that of its session in a folder: seal FROM TO KEYS.
func seal(ts *testscript.TestScript, _ bool, args []string) {
	to := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(to), 0o700))
	ts.Check(os.WriteFile(to, []byte(ts.ReadFile(args[0])), 0o600))
	keys, err := sealed.ParseKeys([]byte(ts.ReadFile(args[2])))
	ts.Check(err)
	ts.Check(sealed.Seal(context.Background(), journal.Dir(filepath.Dir(to)), strings.TrimSuffix(filepath.Base(to), ".jsonl"), keys...))
}
