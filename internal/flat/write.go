package flat

import (
	"math"
	"reflect"
	"strconv"
	"sync"

	"github.com/retake-go/retake/internal/canon"
)

// rooms are what values are written in, before it is known how long they are. (On the stack they would not stay: append is recursive.)
var rooms = sync.Pool{New: func() any { return new([256]byte) }}

// Marshal is [canon.Marshal]; t is the type of v.
func Marshal[T any](t *Type, v T) ([]byte, error) {
	if t != nil {
		room := rooms.Get().(*[256]byte)
		defer rooms.Put(room)
		if raw, ok := t.append(room[:0], reflect.ValueOf(&v).Elem()); ok {
			return append(make([]byte, 0, len(raw)), raw...), nil
		}
	}
	return canon.Marshal(v)
}

// Writes reports whether [Marshal] of a value writes it without the library, and so without an error; t is the type of T.
func Writes[T any](t *Type, v *T) bool { return t != nil && t.writes(reflect.ValueOf(v).Elem()) }

// Written is the canonical form of what v points to, of which [Writes] has said that it can be written.
func Written(v any) []byte {
	held := reflect.ValueOf(v).Elem()
	raw, _ := of(held.Type()).append(nil, held)
	return raw
}

// writes reports whether append leaves a value to the library.
func (t *Type) writes(v reflect.Value) bool {
	switch t.form {
	case text:
		return canon.IsUTF8(v.String())
	case real:
		return isPlainReal(v.Float())
	case object:
		for n := range t.fields {
			if f := &t.fields[n]; !f.writes(v.Field(f.at)) {
				return false
			}
		}
	}
	return true
}

// append appends the canonical form of a value; false where the library has the word.
func (t *Type) append(dst []byte, v reflect.Value) ([]byte, bool) {
	switch t.form {
	case text:
		return canon.AppendString(dst, v.String())
	case boolean:
		return strconv.AppendBool(dst, v.Bool()), true
	case whole:
		return strconv.AppendInt(dst, v.Int(), 10), true
	case natural:
		return strconv.AppendUint(dst, v.Uint(), 10), true
	case real:
		return appendReal(dst, v.Float())
	}
	return t.appendFields(dst, v)
}

func (t *Type) appendFields(dst []byte, v reflect.Value) ([]byte, bool) {
	lead, ok := byte('{'), true
	for n := range t.fields {
		f := &t.fields[n]
		held := v.Field(f.at)
		if f.omitted && held.IsZero() {
			continue
		}
		dst = append(append(dst, lead), f.head...)
		if dst, ok = f.append(dst, held); !ok {
			return dst, false
		}
		lead = ','
	}
	if lead == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}'), true
}

// appendReal appends a number that is written without an exponent.
func appendReal(dst []byte, f float64) ([]byte, bool) {
	if !isPlainReal(f) {
		return dst, false
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64), true
}

func isPlainReal(f float64) bool {
	size := math.Abs(f)
	return size >= 1e-6 && size < 1e21 || f == 0 && !math.Signbit(f)
}
