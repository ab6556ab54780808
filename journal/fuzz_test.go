package journal_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/policy"
)

// seeds are all journals of testdata.
func seeds(f *testing.F) [][]byte {
	var all [][]byte
	for name := range stories(f) {
		all = append(all, kept(f, name))
	}
	for name := range made(f) {
		all = append(all, kept(f, name))
	}
	return all
}

// FuzzReader reads any bytes. It never panics, and accepts only lines that follow from those before.
func FuzzReader(f *testing.F) {
	for _, text := range seeds(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := journal.NewReader(bytes.NewReader(text))
		var records [][]byte
		for {
			raw, err := r.Raw()
			if err != nil {
				break
			}
			records = append(records, bytes.Clone(raw))
		}
		if written := journal.Chain(records...); !bytes.HasPrefix(text, written) {
			t.Fatalf("%d records were read of bytes that are not theirs", len(records))
		}
		if int64(len(journal.Chain(records...))) > r.Offset() {
			t.Fatal("more was read than there is")
		}
	})
}

// FuzzChangedByte changes one byte of a journal: the line is refused.
func FuzzChangedByte(f *testing.F) {
	f.Add(100, byte(1))
	f.Add(5000, byte(0x80))
	text := kept(f, "corrected")
	f.Fuzz(func(t *testing.T, at int, with byte) {
		if at < 0 || at >= len(text)-1 || with == 0 {
			return
		}
		changed := bytes.Clone(text)
		changed[at] ^= with
		report, err := replay(changed)
		if !errors.Is(err, journal.ErrCorrupt) {
			t.Fatalf("byte %d was changed, and the replay says %v (%+v)", at, err, report)
		}
	})
}

// FuzzReplay replays invalid records with correct hashes. Each command ends with an answer or an error.
func FuzzReplay(f *testing.F) {
	for _, text := range seeds(f) {
		r := journal.NewReader(bytes.NewReader(text))
		var lines []byte
		for raw, err := r.Raw(); err == nil; raw, err = r.Raw() {
			lines = append(append(lines, raw...), '\n')
		}
		f.Add(lines)
	}
	once := policyOf(f, "max_attempts: 1\n")
	f.Fuzz(func(t *testing.T, lines []byte) {
		var records [][]byte
		for _, raw := range bytes.Split(lines, []byte("\n")) {
			if len(raw) > 0 {
				records = append(records, raw)
			}
		}
		text := journal.Chain(records...)
		_, err := replay(text)
		var known bool
		for _, want := range []error{nil, journal.ErrCorrupt, journal.ErrDiffers} {
			known = known || errors.Is(err, want)
		}
		if !known {
			t.Fatalf("an error of no kind: %v", err)
		}
		for _, set := range []*policy.Set{nil, once} {
			_, _ = journal.WhatIf{Policy: set}.Run(bytes.NewReader(text))
		}
		_ = journal.Trace(bytes.NewReader(text), io.Discard)
		if d, err := journal.Diff(bytes.NewReader(text), bytes.NewReader(text), journal.Diffing{}); err == nil && !d.Same() {
			t.Fatalf("a journal differs from itself: %s", d.Explain("a", "b"))
		}
	})
}
