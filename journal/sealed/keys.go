package sealed

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/retake-go/retake/internal/sealedline"
	"github.com/retake-go/retake/journal"
)

// keys seal with the first, and open with each.
type keys []Sealer

// check reports everything that is wrong with keys, joined.
func (k keys) check() error {
	if len(k) == 0 {
		return errors.New("sealed: there is no key: give one, such as AES makes")
	}
	var errs []error
	seen := map[string]bool{}
	for n, s := range k {
		switch {
		case s == nil:
			errs = append(errs, fmt.Errorf("sealed: key %d is nil", n+1))
		case !sealedline.IsKeyID(s.KeyID()):
			errs = append(errs, fmt.Errorf("sealed: key %d: its id %q must be 1 to 64 of A-Z, a-z, 0-9, dot, "+
				"underscore and hyphen",
				n+1, s.KeyID()))
		case seen[s.KeyID()]:
			errs = append(errs, fmt.Errorf("sealed: key %d: its id %q is that of a key before it", n+1, s.KeyID()))
		default:
			seen[s.KeyID()] = true
		}
	}
	return errors.Join(errs...)
}

// ids returns those of all keys.
func (k keys) ids() (ids []string) {
	for _, s := range k {
		ids = append(ids, s.KeyID())
	}
	return ids
}

// find returns the key with an id. The error is a [journal.SealedError] without its line.
func (k keys) find(id string) (Sealer, error) {
	for _, s := range k {
		if s.KeyID() == id {
			return s, nil
		}
	}
	return nil, &journal.SealedError{Key: id, Given: k.ids()}
}

// place returns where a line stands. It is authenticated with the line.
func place(session string, line int64) []byte {
	return append(binary.BigEndian.AppendUint64([]byte("line"), uint64(line)), session...)
}

func hashOf(s Sealer, text []byte) string {
	sum := s.Hash(text)
	return hex.EncodeToString(sum[:])
}

// seal appends line number n of a journal, with or without its line feed.
func (k keys) seal(to []byte, session string, n int64, text []byte) ([]byte, error) {
	s := k[0]
	sealed, err := s.Seal(text, place(session, n))
	if err != nil {
		return nil, fmt.Errorf("sealed: the key whose id is %q: %w", s.KeyID(), err)
	}
	l := sealedline.Line{Hash: hashOf(s, text), Key: s.KeyID(), Sealed: sealed}
	if n == 1 {
		l.Session = session
	}
	return l.Append(to)
}
