package sealed

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/retake-go/retake/internal/sealedline"
	"github.com/retake-go/retake/journal"
)

// Reader reads a sealed journal as the journal that was sealed. A last line that was cut off stays as it is.
// It returns a [journal.CorruptError] for a line that was changed, moved or left out, and a
// [journal.SealedError] for one whose key it has not; their offsets are those of the sealed journal. It is
// for one goroutine.
type Reader struct {
	in      *bufio.Reader
	keys    keys
	session string
	at      position
	out     []byte
	err     error
	// follows is set if the journal is still written. Then half is what there is of its next line.
	follows bool
	half    []byte
}

// position is the end of complete lines.
type position struct {
	lines, plain, sealed int64
}

// NewReader returns a reader of the sealed journal in in.
func NewReader(in io.Reader, keys ...Sealer) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 64<<10), keys: keys}
}

// Follow makes the reader read on after io.EOF, for a journal that is still written. It keeps back a last
// line that is not whole yet.
func (r *Reader) Follow() { r.follows = true }

// Read implements [io.Reader].
func (r *Reader) Read(b []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil && !(r.follows && errors.Is(r.err, io.EOF)) {
			return 0, r.err
		}
		if r.out, r.err = r.next(); r.follows && errors.Is(r.err, io.EOF) {
			r.half, r.out = r.out, nil
			return 0, io.EOF
		}
	}
	n := copy(b, r.out)
	r.out = r.out[n:]
	return n, nil
}

// maxLine is the longest sealed line: base64 makes four bytes of three.
const maxLine = journal.MaxLineBytes/3*4 + 4096

// next returns the next line as it was before it was sealed. With an error it returns the rest, which is
// none.
func (r *Reader) next() (text []byte, err error) {
	line, err := r.line()
	if err != nil || line[len(line)-1] != '\n' {
		return line, err // cut off, or longer than any line: whoever reads it says so
	}
	text, err = r.open(line[:len(line)-1])
	if err != nil {
		return nil, err
	}
	r.at.lines, r.at.sealed, r.at.plain = r.at.lines+1, r.at.sealed+int64(len(line)), r.at.plain+int64(len(text))+1
	return append(text, '\n'), nil
}

// line reads to the next line feed, or the first maxLine bytes.
func (r *Reader) line() (line []byte, err error) {
	line, r.half = r.half, nil
	for {
		part, err := r.in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > maxLine {
			if errors.Is(err, bufio.ErrBufferFull) {
				err = nil
			}
			return line, err
		}
	}
}

// open opens a line.
func (r *Reader) open(line []byte) ([]byte, error) {
	number := r.at.lines + 1
	corrupt := func(format string, args ...any) error {
		return &journal.CorruptError{Line: number, Offset: r.at.sealed, Why: fmt.Sprintf(format, args...)}
	}
	l, err := sealedline.Parse(line)
	switch {
	case err != nil || l.Hash == "":
		return nil, corrupt(`it is no line of a sealed journal: {"hash":…,"key":…,"sealed":…} is wanted`)
	case number > 1 && l.Session != "":
		return nil, corrupt("it is the first line of the journal of session %q", l.Session)
	case number == 1 && r.session != "" && l.Session != r.session:
		return nil, corrupt("it is of the journal of session %q, not of %q", l.Session, r.session)
	case number == 1:
		r.session = l.Session
	}
	key, err := r.keys.find(l.Key)
	if missing, is := errors.AsType[*journal.SealedError](err); is {
		missing.Line = number
		return nil, missing
	}
	text, err := key.Open(l.Sealed, place(r.session, number))
	if err != nil {
		return nil, corrupt("it does not open with the key whose id is %q: it was changed, or it is from another place or session", l.Key)
	}
	if want := hashOf(key, text); l.Hash != want {
		return nil, &journal.CorruptError{Line: number, Offset: r.at.sealed, Found: l.Hash, Want: want}
	}
	if bytes.IndexByte(text, '\n') >= 0 {
		return nil, corrupt("it holds more than one line")
	}
	return text, nil
}
