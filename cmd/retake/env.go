package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf16"

	"golang.org/x/term"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal/sealed"
)

// env is the input, output and clock of a command.
type env struct {
	in  io.Reader
	out *bufio.Writer
	err io.Writer
	paint
	// after is time.After, or the clock of a test.
	after func(time.Duration) <-chan time.Time
	// databases are those that were opened.
	databases map[opened]db
	// keys are those of sealed journals; there may be none.
	keys []sealed.Sealer
}

func newEnv() *env {
	return &env{
		in: os.Stdin, out: bufio.NewWriterSize(os.Stdout, 1<<16), err: os.Stderr,
		paint: paint(term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "" &&
			os.Getenv("TERM") != "dumb"),
		after: time.After,
	}
}

// end flushes the output and turns an error into the exit status.
func (e *env) end(name string, err error) int {
	err = cmp.Or(err, e.closeDatabases())
	if flushed := e.out.Flush(); flushed != nil && (err == nil || errors.Is(err, errNotOK)) {
		err = flushed
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNotOK):
		return exitNotOK
	}
	return e.fail(name, err)
}

// fail writes an error, and for wrong usage how to get help.
func (e *env) fail(name string, err error) int {
	prefix := strings.TrimSpace("retake " + name)
	fmt.Fprintf(e.err, "%s: %s\n", prefix, plainLines(strings.TrimSpace(err.Error())))
	if _, ok := errors.AsType[*misuse](err); ok {
		fmt.Fprintf(e.err, "help: %s -h\n", prefix)
	}
	return exitTrouble
}

// print, println and printf write to the output.
func (e *env) print(args ...any)                 { fmt.Fprint(e.out, args...) }
func (e *env) println(args ...any)               { fmt.Fprintln(e.out, args...) }
func (e *env) printf(format string, args ...any) { fmt.Fprintf(e.out, format, args...) }

// note writes a note to standard error.
func (e *env) note(format string, args ...any) { e.warn("note: "+format, args...) }

// warn writes to standard error what goes wrong beside the answer.
func (e *env) warn(format string, args ...any) {
	fmt.Fprintln(e.err, plainLines(fmt.Sprintf(format, args...)))
}

// json writes a value as one line. Characters that cannot be seen are escaped.
func (e *env) json(v any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	text := out.String()
	for at, r := range text {
		switch {
		case r == '\n' || canon.Seen(text[:at], r):
			_, _ = e.out.WriteRune(r)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				e.printf(`\u%04x`, unit)
			}
		}
	}
	return nil
}
