package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/sealedline"
)

// MaxLineBytes is the longest line of a journal: 128 MiB.
const MaxLineBytes = 128 << 20

// Reader reads a journal line by line. Its memory does not grow with the number of lines. It is for one
// goroutine.
type Reader struct {
	in       lineReader
	head     hash
	position // of the last line
	// torn is the last line if it has no line feed. It is cut to 64 KiB, and to the first 16 of the zero
	// bytes at its end, which a loss of power may leave.
	torn      []byte
	tornBytes int64
	// snapshotDue reports that a snapshot must follow what Next returned last.
	snapshotDue bool
	err         error
}

// NewReader returns a reader of the journal in in.
func NewReader(in io.Reader) *Reader {
	return &Reader{in: newLineReader(in), head: newHash()}
}

// Next reads, verifies and decodes the next line. It returns io.EOF after the last complete line;
// [Reader.TornBytes] then counts the rest. It returns a [CorruptError] for a changed line, and for a text
// that is not a journal. Errors of in are returned unchanged.
func (r *Reader) Next() (Record, error) {
	raw, err := r.Raw()
	if r.snapshotDue && errors.Is(err, io.EOF) {
		err = r.noSnapshot()
		r.err = err
	}
	if err != nil {
		return Record{}, err
	}
	rec, err := decode(raw)
	if err != nil {
		r.err = r.locate(err)
		return Record{}, r.err
	}
	if rec.Note == nil {
		r.snapshotDue = rec.Header != nil && rec.Header.Compacted != nil
	}
	return rec, nil
}

// noSnapshot returns the error of a compacted journal that ends before its snapshot. No crash leaves one,
// because a journal is replaced at once.
func (r *Reader) noSnapshot() error {
	return &CorruptError{Line: r.line + 1, Offset: r.end, Why: "the snapshot of the compacted journal is missing or cut off"}
}

// Raw is [Reader.Next] without decoding. It returns the bytes of the record, valid until the next call.
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
			return nil, &CorruptError{Line: 1, Why: notALine}
		}
		r.tornBytes = int64(len(line)) + zeros
		r.torn = bytes.Clone(line[:min(len(line), keptTorn-keptZeros)])
		r.torn = append(r.torn, make([]byte, min(zeros, keptZeros))...)
	}
	if err != nil {
		return nil, err
	}
	r.position = position{r.line + 1, r.end, r.end + int64(len(line))}
	text := line[:len(line)-1]
	found, raw, ok := cutLine(text)
	if !ok {
		return nil, r.notALine(text)
	}
	want := r.head.next(raw)
	if found != want {
		return nil, &CorruptError{Line: r.line, Offset: r.offset, Found: printable(found),
			Want: want.String()}
	}
	if !isNote(raw) {
		r.head = found
	}
	return raw, nil
}

// notALine returns the error for a text that is not a line of a journal.
func (r *Reader) notALine(text []byte) error {
	if sealed, err := sealedline.Parse(text); err == nil {
		return &SealedError{Line: r.line, Key: sealed.Key, session: sealed.Session}
	}
	return &CorruptError{Line: r.line, Offset: r.offset, Why: notALine}
}

// notALine says what a text that is no line of a journal should be, also what editors and text-mode copies
// make of one.
const notALine = `it is no line of a journal: {"hash":…,"record":…} is wanted, in UTF-8 without a byte ` +
	"order mark, and a line feed alone at its end; copy the file byte for byte"

// begins reports whether a torn first line may be the beginning of a journal, so that other files are
// refused. A loss of power may leave zeros in it.
func begins(torn []byte) bool {
	for n, c := range torn[:min(len(torn), len(beforeHash))] {
		if c != beforeHash[n] && c != 0 {
			return false
		}
	}
	return true
}

// printable returns an invalid hash without control characters.
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
		return nil, &CorruptError{Line: r.line + 1, Offset: r.end,
			Why: fmt.Sprintf("it is longer than %d bytes", MaxLineBytes)}
	}
	return line, err
}

// Line returns the number of the last line, from 1; 0 before the first.
func (r *Reader) Line() int64 { return r.line }

// Hash returns the hash of the last line that is not a note. It covers all lines before it but notes.
func (r *Reader) Hash() string { return r.head.String() }

// Offset returns where the next line begins: the number of bytes in complete lines so far.
func (r *Reader) Offset() int64 { return r.end }

// TornBytes returns the length of the last line if it has no line feed, else 0.
func (r *Reader) TornBytes() int64 { return r.tornBytes }

// The most bytes, and zeros at the end, that are kept of a torn line.
const (
	keptTorn  = 64 << 10
	keptZeros = 16
)

const (
	// readRoom is the size of one read, in bytes.
	readRoom = 16 << 10
	// keptRoom is the largest buffer that is kept for the next line or append.
	keptRoom = 1 << 20
)

// lineReader reads lines of limited length.
type lineReader struct {
	in *bufio.Reader
	// line has a line that is longer than the buffer of in.
	line []byte
	// zeros counts the zero bytes at the end of the text, which a loss of power may leave. They are not kept.
	zeros int64
}

func newLineReader(in io.Reader) lineReader { return lineReader{in: bufio.NewReaderSize(in, readRoom)} }

// whyEnded returns why a text has ended, which only [io.EOF] itself says of a whole one. An error that wraps
// it is one of a connection, say.
func whyEnded(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if err = chain.Bounded(err); errors.Is(err, io.EOF) {
		return fmt.Errorf("the text was cut off: %v", err) // it must not wrap it
	}
	return err
}

// linesEnd returns where the complete lines of a text end. It looks no further than the first line that ends
// beyond most, and holds no line.
func linesEnd(text io.Reader, most int64) (end int64, err error) {
	in, at := bufio.NewReaderSize(text, readRoom), int64(0)
	for end <= most {
		part, err := in.ReadSlice('\n')
		at += int64(len(part))
		switch {
		case err == nil:
			end = at
		case err == io.EOF:
			return end, nil
		case err != bufio.ErrBufferFull:
			return end, whyEnded(err)
		}
	}
	return end, nil
}

// next returns the next line with its line feed, valid until the next call. With an error it returns the rest
// of the text. For a line of more than most bytes it returns the beginning, without line feed and error.
func (l *lineReader) next(most int) ([]byte, error) {
	if l.line = l.line[:0]; cap(l.line) > keptRoom {
		l.line = nil
	}
	for {
		part, err := l.in.ReadSlice('\n')
		if err == nil && len(l.line) == 0 && l.zeros == 0 {
			return part, nil
		}
		text := bytes.TrimRight(part, "\x00")
		if len(text) > 0 {
			// The zeros were not the end of the text. At most as many as fit in a line are kept.
			l.line = append(l.line, make([]byte, min(l.zeros, int64(most)+1))...)
			l.line, l.zeros = append(l.line, text...), 0
		}
		l.zeros += int64(len(part) - len(text))
		switch {
		case len(l.line) > most:
			return l.line, nil
		case err != bufio.ErrBufferFull:
			return l.line, whyEnded(err)
		}
	}
}
