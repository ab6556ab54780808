package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"
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
		case !errors.Is(err, bufio.ErrBufferFull):
			return l.line, err
		}
	}
}
