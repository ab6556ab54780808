package flat

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// Unmarshal is [canon.Unmarshal] into a value of its own; t is the type of T.
func Unmarshal[T any](t *Type, raw []byte) (v T, err error) {
	if v, ok := Read[T](t, raw); ok {
		return v, nil
	}
	return slowly[T](raw)
}

func slowly[T any](raw []byte) (v T, err error) {
	err = canon.Unmarshal(raw, &v)
	return v, err
}

// Read is Unmarshal of a text that is known to be in canonical form once it was read; ok is false for any other. t is the type of T.
func Read[T any](t *Type, raw []byte) (v T, ok bool) {
	if t == nil {
		return v, false
	}
	rest, ok := t.read(raw, reflect.ValueOf(&v).Elem())
	return v, ok && len(rest) == 0
}

// read reads a value that is written as [Type.append] writes it, but for escapes in texts, and returns what follows it.
func (t *Type) read(raw []byte, v reflect.Value) (rest []byte, ok bool) {
	switch t.form {
	case text:
		return readText(raw, v)
	case boolean:
		return readBoolean(raw, v)
	case object:
		return t.readFields(raw, v)
	}
	end := 0
	for end < len(raw) && strings.IndexByte("0123456789-.", raw[end]) >= 0 {
		end++
	}
	return raw[end:], t.readNumber(raw[:end], v)
}

func readText(raw []byte, v reflect.Value) ([]byte, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return raw, false
	}
	end := 1 + canon.PlainRun(raw[1:])
	if end == len(raw) || raw[end] != '"' {
		return raw, false
	}
	s := string(raw[1:end])
	v.SetString(s)
	return raw[end+1:], canon.IsUTF8(s)
}

func readBoolean(raw []byte, v reflect.Value) ([]byte, bool) {
	if rest, ok := after(raw, "true"); ok {
		v.SetBool(true)
		return rest, true
	}
	return after(raw, "false")
}

// after is what follows a word.
func after(raw []byte, word string) ([]byte, bool) {
	if len(raw) < len(word) || string(raw[:len(word)]) != word {
		return raw, false
	}
	return raw[len(word):], true
}

func (t *Type) readNumber(raw []byte, v reflect.Value) bool {
	var err error
	switch t.form {
	case whole:
		var n int64
		n, err = strconv.ParseInt(string(raw), 10, v.Type().Bits())
		v.SetInt(n)
	case natural:
		var n uint64
		n, err = strconv.ParseUint(string(raw), 10, v.Type().Bits())
		v.SetUint(n)
	case real:
		var n float64
		n, err = strconv.ParseFloat(string(raw), 64)
		v.SetFloat(n)
	}
	return err == nil && isNumber(raw)
}

// isNumber reports whether what strconv takes for a number is one of JSON.
func isNumber(raw []byte) bool {
	before, behind, point := bytes.Cut(bytes.TrimPrefix(raw, []byte("-")), []byte("."))
	return len(before) > 0 && (before[0] != '0' || len(before) == 1) && (!point || len(behind) > 0)
}

func (t *Type) readFields(raw []byte, v reflect.Value) (rest []byte, ok bool) {
	lead := "{"
	for n := range t.fields {
		f := &t.fields[n]
		there, ok := after(raw, lead)
		if ok {
			there, ok = after(there, f.head)
		}
		if !ok {
			continue
		}
		if raw, ok = f.read(there, v.Field(f.at)); !ok {
			return raw, false
		}
		lead = ","
	}
	if lead == "{" {
		return after(raw, "{}")
	}
	return after(raw, "}")
}
