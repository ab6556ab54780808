package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"
)

// env is what a command reads and writes.
type env struct {
	in  io.Reader
	out *bufio.Writer
	err io.Writer
	// typed is set where the input is a person's, watched where somebody sees err as it is written.
	typed, watched bool
	paint          paint
}

func newEnv() *env {
	return &env{
		in: os.Stdin, out: bufio.NewWriterSize(os.Stdout, 1<<16), err: os.Stderr,
		typed: isTerminal(os.Stdin), watched: isTerminal(os.Stderr),
		paint: paint(isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"),
	}
}

// isTerminal finds files that somebody sits at. The null device is a character device too, and nobody sits
// there.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// end writes out what is left and turns an error into the exit status.
func (e *env) end(name string, err error) int {
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

// fail says what is wrong and, of bad usage, how to get help.
func (e *env) fail(name string, err error) int {
	prefix := strings.TrimSpace("retake " + name)
	fmt.Fprintf(e.err, "%s: %s\n", prefix, plainLines(strings.TrimSpace(err.Error())))
	var m *misuse
	if errors.As(err, &m) {
		fmt.Fprintf(e.err, "help: %s -h\n", prefix)
	}
	return exitTrouble
}

// note tells something beside the answer.
func (e *env) note(format string, args ...any) {
	fmt.Fprintln(e.err, plainLines(fmt.Sprintf("note: "+format, args...)))
}

// json writes one value as one line, in which what would not print as itself is an escape.
func (e *env) json(v any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	for _, r := range text.String() {
		switch {
		case r == '\n' || unicode.IsGraphic(r):
			_, _ = e.out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(e.out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(e.out, `\u%04x`, r)
		}
	}
	return nil
}

// paint colours text where it is set. Of one that is not, every text comes back as it is.
type paint bool

func (p paint) with(code, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p paint) bold(text string) string  { return p.with("1", text) }
func (p paint) faint(text string) string { return p.with("2", text) }
func (p paint) red(text string) string   { return p.with("31", text) }
func (p paint) green(text string) string { return p.with("32", text) }
func (p paint) cyan(text string) string  { return p.with("36", text) }

// plain makes foreign text fit for a terminal: what would not print as itself becomes U+FFFD.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// indent puts two spaces before each line.
func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
