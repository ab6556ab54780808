package journal

import (
	"bytes"
	"io"
)

// The room of a [lineReader]: little at first, for most journals that are opened are empty or short.
const (
	firstRoom = 4 << 10
	mostRoom  = 32 << 10
	// emptyReads is how often in a row a reader may give nothing.
	emptyReads = 100
)

// lineReader reads lines into memory that is used again, and that outgrows its bound for long lines alone.
type lineReader struct {
	in io.Reader
	// buf is what was read; what is before at was handed out.
	buf []byte
	at  int
	err error
}

// buffered is how many bytes were read and not handed out.
func (l *lineReader) buffered() int { return len(l.buf) - l.at }

// next is the next line, good until the next call. It has its line feed, unless more than so many bytes are read without one, or there is
// an error: then it is what was left.
func (l *lineReader) next(most int) ([]byte, error) {
	for seen := 0; ; {
		rest := l.buf[l.at:]
		if n := bytes.IndexByte(rest[seen:], '\n'); n >= 0 {
			rest = rest[:seen+n+1]
			l.at += len(rest)
			return rest, nil
		}
		if seen = len(rest); l.err != nil || seen > most {
			l.at = len(l.buf)
			return rest, l.err
		}
		l.fill()
	}
}

// more is the room that follows on one that did not do.
func more(room int) int {
	if room == 0 {
		return firstRoom
	}
	return max(mostRoom, 2*room)
}

// fill reads more behind what was not handed out.
func (l *lineReader) fill() {
	rest := l.buf[l.at:]
	if len(l.buf) == cap(l.buf) && (cap(l.buf) < mostRoom || len(rest) == cap(l.buf)) {
		l.buf = make([]byte, 0, more(cap(l.buf)))
	}
	l.buf, l.at = append(l.buf[:0], rest...), 0
	for range emptyReads {
		n, err := l.in.Read(l.buf[len(l.buf):cap(l.buf)])
		if l.buf, l.err = l.buf[:len(l.buf)+n], err; n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}
