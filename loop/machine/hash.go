package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/retake-go/retake/fault"
)

// sum is the hash of the three in a row. Only middle may be long: of it no copy is made.
func sum[S ~string | ~[]byte](head []byte, middle S, tail []byte) [sha256.Size]byte {
	var room [512]byte
	if len(head)+len(middle)+len(tail) <= len(room) {
		return sha256.Sum256(append(append(append(room[:0], head...), middle...), tail...))
	}
	h := sha256.New()
	h.Write(head)
	for n := 0; n < len(middle); {
		part := room[:copy(room[:], middle[n:])]
		h.Write(part)
		n += len(part)
	}
	h.Write(tail)
	return [sha256.Size]byte(h.Sum(room[:0]))
}

// mark is a signature in hexadecimal digits.
type mark [16]byte

// Signature names a failure for the no-progress rule: the action, what was proposed (canonical arguments), the issue set.
func Signature(action, same string, f fault.Failure) string {
	m := signature(action, same, "", &f)
	return string(m[:])
}

// signature is [Signature]; what was proposed is same and then end, which is short.
func signature[S ~string | ~[]byte](action string, same S, end string, f *fault.Failure) (m mark) {
	var above [128]byte
	var below [128]byte
	head := append(append(above[:0], action...), 0)
	tail := append(append(append(append(below[:0], end...), 0), f.Class...), 0)
	for n := range f.Issues {
		tail = f.Issues[n].AppendID(tail)
	}
	found := sum(head, same, tail)
	hex.Encode(m[:], found[:len(m)/2])
	return m
}

// unsigned reports whether nobody reads the signatures of an action's failures.
func (s *step) unsigned(action string) bool {
	return s.room != nil && s.room.Unseen && s.policyOf(action).NoProgress == 0
}

// sign is the signature of a failure of an action; zero where nobody reads it.
func sign[S ~string | ~[]byte](s *step, action string, same S, f *fault.Failure) mark {
	if s.unsigned(action) {
		return mark{}
	}
	return signature(action, same, "", f)
}

// idempotencyKey is a hash of session, action, index among identical calls of the reply, and canonical arguments.
func idempotencyKey(session string, action int, tool string, twins int, arguments []byte) (key [32]byte) {
	var room [256]byte
	head := appendPart(room[:0], session)
	head = appendPart(head, strconv.Itoa(action))
	head = appendPart(head, tool)
	head = appendPart(head, strconv.Itoa(twins))
	head = append(strconv.AppendInt(head, int64(len(arguments)), 10), ':')
	found := sum(head, arguments, nil)
	hex.Encode(key[:], found[:len(key)/2])
	return key
}

// appendPart appends a text that its length stands before.
func appendPart(dst []byte, part string) []byte {
	return append(append(strconv.AppendInt(dst, int64(len(part)), 10), ':'), part...)
}
