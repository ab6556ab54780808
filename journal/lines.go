package journal

import (
	"bytes"
	"io"
)

// The room of a [lineReader]: little at first, for most journals that are opened are empty or short; more for long lines alone, and what
// a very long one needed is let go. So are all other buffers of more than keptRoom.
const (
	firstRoom = 4 << 10
	mostRoom  = 32 << 10
	keptRoom  = 1 << 20
	// emptyReads is how often in a row a reader may give nothing.
	emptyReads = 100
)

// lineReader reads lines into memory that is used again.
type lineReader struct {
	in io.Reader
	// buf is what was read; what is before at was handed out.
	buf []byte
	at  int
	err error
	// zeros counts the zero bytes that stood behind the last line's text, up to the end: they are not kept.
	zeros int64
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
		if seen > 0 && rest[seen-1] == 0 {
			seen = l.skipZeros(most)
			continue
		}
		l.fill()
	}
}

// skipZeros takes the zeros off the end of what was not handed out, where nothing but zeros follows them: a loss of power may leave any
// number. Else they are put back, unless the line is too long with them. It returns how much of the line was looked at.
func (l *lineReader) skipZeros(most int) int {
	text := bytes.TrimRight(l.buf[l.at:], "\x00")
	zeros := int64(l.buffered() - len(text))
	l.buf = l.buf[:l.at+len(text)]
	chunk, blank := make([]byte, mostRoom), make([]byte, mostRoom)
	for {
		n, err := l.read(chunk)
		if bytes.Equal(chunk[:n], blank[:n]) {
			if zeros += int64(n); err == nil {
				continue
			}
			l.zeros, l.err = zeros, err
			return len(text)
		}
		other := len(chunk[:n]) - len(bytes.TrimLeft(chunk[:n], "\x00"))
		// Of zeros that are no end, no more are put back than make the line too long.
		zeros = min(zeros+int64(other), int64(most)+1)
		l.buf = append(append(l.buf, make([]byte, zeros)...), chunk[other:n]...)
		l.err = err
		return len(text) + int(zeros)
	}
}

// room is how much is wanted, where so much was not handed out.
func (l *lineReader) room(rest int) int {
	room := cap(l.buf)
	switch {
	case room == 0:
		return firstRoom
	case rest == room:
		return max(mostRoom, 2*room)
	case len(l.buf) == room && room < mostRoom, room > keptRoom && rest < mostRoom:
		return mostRoom
	}
	return room
}

// fill reads more behind what was not handed out.
func (l *lineReader) fill() {
	rest := l.buf[l.at:]
	if room := l.room(len(rest)); room != cap(l.buf) {
		l.buf = make([]byte, 0, room)
	}
	l.buf, l.at = append(l.buf[:0], rest...), 0
	n, err := l.read(l.buf[len(l.buf):cap(l.buf)])
	l.buf, l.err = l.buf[:len(l.buf)+n], err
}

// read reads something, or says why there is nothing.
func (l *lineReader) read(to []byte) (int, error) {
	for range emptyReads {
		if n, err := l.in.Read(to); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}
