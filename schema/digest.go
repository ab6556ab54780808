package schema

import (
	"crypto/sha256"
	"encoding/hex"
)

// Limits returns the bounds of the documents that Check takes.
func (s *Schema) Limits() Limits { return s.limits }

// Type names the Go type that the schema was made of, such as "agents.Booking"; it is empty for a schema of
// [Compile].
func (s *Schema) Type() string {
	if s.typed == nil {
		return ""
	}
	return s.typed.typ.String()
}

// Digest identifies the rules for documents: the schema, and for a Go type also the kinds of its parts and the
// rules of their tags, since JSON Schema cannot say all of them. Limits and the methods of a type are not part
// of it. It is the same on every machine and in every program. Safe for concurrent use.
func (s *Schema) Digest() string {
	h := sha256.New()
	h.Write(s.text)
	if s.typed != nil {
		h.Write([]byte("\n" + s.typed.rules))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
