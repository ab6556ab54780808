package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var rewrite = flag.Bool("rewrite", false, "write what the scripts expect anew")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"retake": main})
}

// The scripts say what each command prints, and with which status it ends.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *rewrite,
		// Under the race detector a program would linger for a second at its end.
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			hostile, err := os.ReadFile("../../report/testdata/hostile.jsonl")
			if err == nil {
				err = os.WriteFile(filepath.Join(e.WorkDir, "hostile.jsonl"), hostile, 0o600)
			}
			return errors.Join(err, os.CopyFS(e.WorkDir, os.DirFS("../../testdata/journals/v1")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status},
	})
}

// status runs a command that must end with a given status: status 2 retake ...
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
