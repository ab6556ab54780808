package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
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

// Digest identifies the rules for documents: the schema, and for a Go type also the types and tags of its
// fields, since JSON Schema cannot say all rules. Limits and the methods of a type are not part of it. It is
// the same on every machine and in every program. Safe for concurrent use.
func (s *Schema) Digest() string {
	h := sha256.New()
	h.Write(s.text)
	if s.typed != nil {
		var b strings.Builder
		spell(&b, s.typed.typ, map[reflect.Type]int{})
		h.Write([]byte("\n" + b.String()))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// spell writes a type as text: kinds, and the names and tags of fields. It writes types with a decoder of
// their own by name, and a type that it met before by number.
func spell(b *strings.Builder, t reflect.Type, met map[reflect.Type]int) {
	if n, ok := met[t]; ok {
		fmt.Fprintf(b, "#%d", n)
		return
	}
	switch c := classOf(t); {
	case c == classText || c == classOpaque || c == classBytes:
		b.WriteString(t.String())
		return
	case has(t, issuerType):
		b.WriteString("issues ")
	}
	b.WriteString(t.Kind().String())
	switch t.Kind() {
	case reflect.Array:
		fmt.Fprintf(b, "[%d] ", t.Len())
		spell(b, t.Elem(), met)
	case reflect.Slice, reflect.Pointer:
		b.WriteByte(' ')
		spell(b, t.Elem(), met)
	case reflect.Map:
		b.WriteByte('[')
		spell(b, t.Key(), met)
		b.WriteByte(']')
		spell(b, t.Elem(), met)
	case reflect.Struct:
		met[t] = len(met)
		b.WriteByte('{')
		for n := range t.NumField() {
			f := t.Field(n)
			fmt.Fprintf(b, "%s %q ", f.Name, f.Tag)
			spell(b, f.Type, met)
			b.WriteByte(';')
		}
		b.WriteByte('}')
	}
}
