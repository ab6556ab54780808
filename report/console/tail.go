package console

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/retake-go/retake/journal"
)

// tail reads the complete lines of a journal, and goes on where it stopped. Its zero value is at the beginning.
type tail struct {
	offset, line int64
	head         [32]byte
	// damaged is the first line that is not of the journal; 0 if there is none.
	damaged int64
}

const (
	beforeHash   = `{"hash":"`
	beforeRecord = `","record":`
	hashLen      = 32
)

// read calls take with the record of each new line. buf is room for lines.
func (t *tail) read(in io.Reader, buf *bufio.Reader, take func(raw []byte) error) error {
	if t.line == 0 {
		copy(t.head[:], bytes.Repeat([]byte{'0'}, hashLen))
	}
	buf.Reset(in)
	var long []byte
	for t.damaged == 0 {
		text, err := buf.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, text...); len(long) > journal.MaxLineBytes {
				t.damaged = t.line + 1
			}
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil // the rest is half a line, or nothing
		}
		if err != nil {
			return err
		}
		if long != nil {
			text, long = append(long, text...), nil
		}
		raw, ok := t.next(text[:len(text)-1])
		if !ok || take(raw) != nil {
			t.damaged = t.line + 1
			return nil
		}
		t.line, t.offset = t.line+1, t.offset+int64(len(text))
	}
	return nil
}

// next returns the record of a line, if its hash is right.
func (t *tail) next(text []byte) (raw []byte, ok bool) {
	begin := len(beforeHash) + hashLen + len(beforeRecord)
	if len(text) <= begin || !bytes.HasPrefix(text, []byte(beforeHash)) || text[len(text)-1] != '}' {
		return nil, false
	}
	found, raw := text[len(beforeHash):len(beforeHash)+hashLen], text[begin:len(text)-1]
	sum := sha256.New()
	sum.Write(t.head[:])
	sum.Write(raw)
	var digest [sha256.Size]byte
	var want [hashLen]byte
	hex.Encode(want[:], sum.Sum(digest[:0])[:hashLen/2])
	if !bytes.Equal(found, want[:]) {
		return nil, false
	}
	if !bytes.HasPrefix(raw, []byte(`{"note":`)) {
		t.head = want
	}
	return raw, true
}

// damage says from where on a journal cannot be read.
func (t *tail) damage() string { return fmt.Sprintf("cannot be read from line %d", t.damaged) }
