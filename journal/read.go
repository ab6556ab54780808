package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLineBytes bounds a line of a journal: 128 MiB.
const MaxLineBytes = 128 << 20

// Reader reads a journal line by line. Its memory does not grow with the number of lines. It is for one
// goroutine.
type Reader struct {
	in   lineReader
	head hash
	// line and offset are those of the last line, end is where the next one begins.
	line, offset, end int64
	torn              []byte
	tornBytes         int64
	err               error
}

// NewReader returns a reader of the journal that in holds.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: newLineReader(in), head: newHash()}
}

// Next reads, verifies and decodes the next line. It returns io.EOF after the last whole line; [Reader.Torn]
// then has the rest. It returns a [CorruptError] for a changed line, and for a text that does not begin as a
// journal does. Errors of in are returned as they are.
func (r *Reader) Next() (Record, error) {
	raw, err := r.Raw()
	if err != nil {
		return Record{}, err
	}
	rec, err := decode(raw)
	if err != nil {
		r.err = &CorruptError{Line: r.line, Offset: r.offset, Why: err.Error()}
		return Record{}, r.err
	}
	return rec, nil
}

// Raw is [Reader.Next] without decoding. It returns the bytes of the record, good until the next call.
func (r *Reader) Raw() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	raw, err := r.raw()
	r.err = err
	return raw, err
}

func (r *Reader) raw() ([]byte, error) {
	line, err := r.readLine()
	if zeros := r.in.zeros; errors.Is(err, io.EOF) && int64(len(line))+zeros > 0 {
		if r.line == 0 && !begins(line) {
			return nil, &CorruptError{Line: 1, Why: notALine(line)}
		}
		r.tornBytes = int64(len(line)) + zeros
		r.torn = bytes.Clone(line[:min(len(line), keptTorn-keptZeros)])
		r.torn = append(r.torn, make([]byte, min(zeros, keptZeros))...)
	}
	if err != nil {
		return nil, err
	}
	r.line, r.offset, r.end = r.line+1, r.end, r.end+int64(len(line))
	text := line[:len(line)-1]
	found, raw, ok := cutLine(text)
	if !ok {
		return nil, &CorruptError{Line: r.line, Offset: r.offset, Why: notALine(text)}
	}
	want := r.head.next(raw)
	if found != want {
		return nil, &CorruptError{Line: r.line, Offset: r.offset, Found: printable(found), Want: want.String()}
	}
	if !isNote(raw) {
		r.head = found
	}
	return raw, nil
}

// notALine says why a text is no line of a journal. What editors and copies in text mode do to files has
// words of its own.
func notALine(text []byte) string {
	unmarked, marked := bytes.CutPrefix(text, []byte("\ufeff"))
	uncut, cr := bytes.CutSuffix(text, []byte("\r"))
	_, _, whole := cutLine(uncut)
	switch {
	case marked && begins(unmarked):
		return "it begins with a byte order mark (EF BB BF): take these three bytes off, or copy the file byte for byte"
	case bytes.HasPrefix(text, []byte("\xff\xfe")), bytes.HasPrefix(text, []byte("\xfe\xff")):
		return "it is UTF-16: a journal is UTF-8 without a byte order mark; copy the file byte for byte"
	case cr && whole:
		return "it ends with CR LF: the lines of a journal end with LF alone; take the CRs off, or copy the file byte for byte"
	}
	return `it is no line of a journal: {"hash":…,"record":…} is wanted`
}

// begins reports whether a torn first line may be the beginning of a journal, so that no other file is taken
// for one. A loss of power may leave zeros in it.
func begins(torn []byte) bool {
	for n, c := range torn[:min(len(torn), len(beforeHash))] {
		if c != beforeHash[n] && c != 0 {
			return false
		}
	}
	return true
}

// printable is a foreign hash without control characters.
func printable(h hash) string {
	return string(bytes.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, h[:]))
}

func isNote(raw []byte) bool { return bytes.HasPrefix(raw, []byte(`{"note":`)) }

// readLine reads to the next line feed. With io.EOF it returns a torn line.
func (r *Reader) readLine() ([]byte, error) {
	line, err := r.in.next(MaxLineBytes)
	if err == nil && line[len(line)-1] != '\n' {
		return nil, &CorruptError{Line: r.line + 1, Offset: r.end, Why: fmt.Sprintf("it is longer than %d bytes", MaxLineBytes)}
	}
	return line, err
}

// Line is the number of the last line, from 1; 0 before the first.
func (r *Reader) Line() int64 { return r.line }

// Offset is where the next line begins: the number of bytes in whole lines so far.
func (r *Reader) Offset() int64 { return r.end }

// Torn is the last line where it has no line feed; nil where there is none. It is cut to 64 KiB, and of the
// zero bytes at its end, which a loss of power may leave, it holds the first 16.
func (r *Reader) Torn() []byte { return r.torn }

// TornBytes is the length of the torn line before it was cut.
func (r *Reader) TornBytes() int64 { return r.tornBytes }

// The bounds of what is kept of a torn line, and of the zeros at its end.
const (
	keptTorn  = 64 << 10
	keptZeros = 16
)

// tornNote keeps what was torn.
func tornNote(torn []byte, size int64) *Note {
	n := &Note{Kind: Torn, Torn: torn}
	if left := size - int64(len(torn)); left > 0 {
		n.Text = fmt.Sprintf("%d bytes were cut off, of which these are kept", size)
	}
	return n
}
