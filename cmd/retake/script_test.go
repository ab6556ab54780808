package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "hostile": hostile, "clean": clean},
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
