package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLineBytes bounds a line of a journal: 128 MiB.
const MaxLineBytes = 128 << 20

// Reader reads a journal line by line, in memory that does not grow with the number of lines. It is for one
// goroutine.
type Reader struct {
	in   lineReader
	head hash
	// line and offset are those of the line read last, end is where the next one begins.
	line, offset, end int64
	torn              []byte
	tornBytes         int64
	err               error
}

// NewReader returns a reader of the journal that in holds, from its first byte.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: newLineReader(in), head: newHash()}
}

// Next reads, verifies and decodes the next line. It gives io.EOF after the last whole line; [Reader.Torn]
// then says what was left of a line without its line feed. A line that is not what was written, and a first
// one without its line feed that cannot be the beginning of a journal's, give a [CorruptError]; what in gives
// is given as it is.
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

// Raw is [Reader.Next] without decoding: the bytes of the record, good until the next call.
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

// notALine says why a text is no line of a journal. What editors and copies in text mode do to files has a
// name of its own.
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

// begins reports whether a first line without its line feed may be the beginning of a journal's: nobody's
// file is taken for one. A loss of power may leave zeros.
func begins(torn []byte) bool {
	for n, c := range torn[:min(len(torn), len(beforeHash))] {
		if c != beforeHash[n] && c != 0 {
			return false
		}
	}
	return true
}

// printable is a foreign hash as it may be shown.
func printable(h hash) string {
	return string(bytes.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, h[:]))
}

func isNote(raw []byte) bool { return bytes.HasPrefix(raw, []byte(`{"note":`)) }

// readLine reads to the next line feed. What it returns with io.EOF is a line without one.
func (r *Reader) readLine() ([]byte, error) {
	line, err := r.in.next(MaxLineBytes)
	if err == nil && line[len(line)-1] != '\n' {
		return nil, &CorruptError{Line: r.line + 1, Offset: r.end, Why: fmt.Sprintf("it is longer than %d bytes", MaxLineBytes)}
	}
	return line, err
}

// Line is the number of the line read last, from 1; 0 before the first.
func (r *Reader) Line() int64 { return r.line }

// Offset is the number of bytes in whole lines so far: where the next line begins.
func (r *Reader) Offset() int64 { return r.end }

// Torn is what was left of the last line where it has no line feed; nil where nothing was. Of much it is the
// beginning, 64 KiB at most, and of the zero bytes that a loss of power may leave at the end, the first 16.
func (r *Reader) Torn() []byte { return r.torn }

// TornBytes is how many bytes were left of the last line, however many [Reader.Torn] holds.
func (r *Reader) TornBytes() int64 { return r.tornBytes }

// What is kept of a torn line: so many bytes, and of its zeros so many.
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
