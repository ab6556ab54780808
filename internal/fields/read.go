package fields

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/syntax"
)

// Reader reads one JSON object into a struct.
type Reader struct {
	// Also reads members that are no fields of the struct, or that are read in another way. It reports
	// whether it took the member.
	Also func(name string, v jsontext.Value, f Faults) bool
	// Keys are names beside those of the fields that a hint may give.
	Keys []string
	// Idle reports whether a field has no meaning here. A list of all keys leaves such fields out. Nil means
	// that all fields have a meaning.
	Idle func(Field) bool
}

// Read reads data into the struct that v points to, and returns the names of the members that were read. What
// could not be read stays as it is.
func (r Reader) Read(data []byte, v any, f Faults) (taken []string) {
	if hint := invalid(data); hint != "" {
		f.Add("no valid JSON; %s", hint)
		return nil
	}
	to, fields := reflect.ValueOf(v).Elem(), Fields(v)
	Members(data, f, func(name string, v jsontext.Value, f Faults) {
		n := slices.IndexFunc(fields, func(field Field) bool { return field.Name == name })
		switch {
		case r.Also != nil && r.Also(name, v, f):
		case n < 0:
			f.Add("this key is not known here; %s", r.suggest(name, fields))
			return
		default:
			fields[n].read(v, to.Field(n), f)
		}
		taken = append(taken, name)
	})
	return taken
}

// suggest says what is right instead of an unknown key.
func (r Reader) suggest(key string, all []Field) string {
	here := all
	if r.Idle != nil {
		here = slices.DeleteFunc(slices.Clone(all), r.Idle)
	}
	return suggestKey(key, slices.Concat(r.Keys, Names(all)), slices.Concat(r.Keys, Names(here)))
}

// Read is [Reader.Read] for a struct whose members are its fields.
func Read(data []byte, v any, f Faults) { Reader{}.Read(data, v, f) }

// invalid says what would be right where a text is no single JSON value in UTF-8; it is empty if the text is
// one.
func invalid(data []byte) string {
	in := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	_, err := in.ReadValue()
	if err == nil {
		if rest := bytes.TrimSpace(data[in.InputOffset():]); len(rest) > 0 {
			return "there is more than one value"
		}
		return ""
	}
	return Expected(data, err)
}

// Expected says what would be right where the library found that a text is no JSON.
func Expected(data []byte, err error) string {
	at := Offset(data, err)
	if !utf8.Valid(data) {
		return "expected text in UTF-8"
	}
	return "expected " + cmp.Or(syntax.Wanted(string(data), at), "valid JSON")
}

// Offset returns where the library found that a text is no JSON.
func Offset(data []byte, err error) int {
	if broken, is := errors.AsType[*jsontext.SyntacticError](err); is {
		return min(len(data), int(broken.ByteOffset))
	}
	return len(data)
}

// Twice is the problem of a key that appears twice.
const Twice = "this key appears twice; leave one out"

// Members calls take for each member of a valid object that has a value. A value that is no object, a key
// that appears twice and a key without a value are faults.
func Members(data []byte, f Faults, take func(name string, v jsontext.Value, f Faults)) {
	v := jsontext.Value(bytes.TrimSpace(data))
	if v.Kind() != '{' {
		f.Add("expected a mapping of keys to values, got %s", kinds[v.Kind()])
		return
	}
	seen := map[string]bool{}
	elements(v, func(in *jsontext.Decoder) {
		token, _ := in.ReadToken()
		name := token.String()
		value, _ := in.ReadValue()
		switch at := f.At(name); {
		case seen[name]:
			at.Add(Twice)
		case value.Kind() == 'n':
			at.Add("there is no value; write one, or leave the key out")
		default:
			take(name, value.Clone(), at)
		}
		seen[name] = true
	})
}

// elements calls take where each element of a valid object or list begins.
func elements(v jsontext.Value, take func(in *jsontext.Decoder)) {
	in := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	for in.ReadToken(); in.PeekKind() != '}' && in.PeekKind() != ']'; {
		take(in)
	}
}

// kinds are the kinds of values, as faults name them.
var kinds = map[jsontext.Kind]string{
	'{': "a mapping", '[': "a list", '"': "text", '0': "a number", 't': "the switch", 'f': "the switch",
	'n': "nothing",
}

// Text returns the content of a text, or another value as it was written.
func Text(v jsontext.Value) (text string, is bool) {
	if plain, err := jsontext.AppendUnquote(nil, v); err == nil {
		return string(plain), true
	}
	return string(v), false
}

// Word reads one of the words.
func Word(v jsontext.Value, to *string, words []string, f Faults) {
	(&Field{words: words}).scalar(v, reflect.ValueOf(to).Elem(), f)
}

// Wrong notes a value of the wrong kind.
func Wrong(f Faults, what string, v jsontext.Value) {
	got := kinds[v.Kind()]
	switch text, _ := Text(v); v.Kind() {
	case '"', '0', 't', 'f':
		got += " " + Quoted(text)
	}
	f.Add("expected %s, got %s", what, got)
}

// read reads a value, and reports whether it is kept. A struct is kept even if some of its members could not
// be read, so that the others are checked.
func (field *Field) read(v jsontext.Value, into reflect.Value, f Faults) bool {
	found := f.Found()
	if own, ok := into.Addr().Interface().(json.Unmarshaler); ok {
		f.Take(own.UnmarshalJSON(v))
		return f.Found() == found
	}
	switch into.Kind() {
	case reflect.Pointer:
		if p := reflect.New(into.Type().Elem()); field.read(v, p.Elem(), f) {
			into.Set(p)
		}
	case reflect.Struct:
		Read(v, into.Addr().Interface(), f)
		return true
	case reflect.Slice:
		field.list(v, into, f)
	case reflect.Map:
		all := reflect.MakeMap(into.Type())
		Members(v, f, func(name string, v jsontext.Value, f Faults) {
			value := reflect.New(into.Type().Elem()).Elem()
			if field.read(v, value, f) {
				all.SetMapIndex(reflect.ValueOf(name).Convert(into.Type().Key()), value)
			}
		})
		into.Set(all)
	default:
		field.scalar(v, into, f)
	}
	return f.Found() == found
}

func (field *Field) list(v jsontext.Value, into reflect.Value, f Faults) {
	if v.Kind() != '[' {
		Wrong(f, "a list, such as [a, b]", v)
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), 0, 0))
	elements(v, func(in *jsontext.Decoder) {
		one, _ := in.ReadValue()
		value := reflect.New(into.Type().Elem()).Elem()
		field.read(one.Clone(), value, f.Item(into.Len()))
		into.Set(reflect.Append(into, value))
	})
}

func (field *Field) scalar(v jsontext.Value, into reflect.Value, f Faults) {
	kind := v.Kind()
	text, _ := Text(v)
	switch to := into.Addr().Interface().(type) {
	case *time.Duration:
		field.duration(v, text, to, f)
	case *int:
		n := int64(*to)
		field.count(v, text, &n, math.MaxInt32, f)
		*to = int(n)
	case *int64:
		field.count(v, text, to, math.MaxInt64, f)
	case *bool:
		if *to = kind == 't'; kind != 't' && kind != 'f' {
			Wrong(f, "true or false", v)
		}
	case *float64:
		var err error
		if *to, err = strconv.ParseFloat(text, 64); kind != '0' || err != nil {
			Wrong(f, "a number", v)
		}
	default:
		problem := field.unknown(text)
		switch {
		case kind == '"' && problem == "":
			into.SetString(text)
		case kind == '"':
			f.Add("%s", problem)
		case field.words != nil:
			Wrong(f, "one of "+strings.Join(field.words, ", "), v)
		default:
			Wrong(f, "a name", v)
		}
	}
}

const orOff = "write off, or 1 or more"

// count reads a whole number from 0 to most, or one of the words that the field takes.
func (field *Field) count(v jsontext.Value, text string, to *int64, most int64, f Faults) {
	const digits = "0123456789"
	kind, what, right := v.Kind(), "a whole number", fmt.Sprintf("write %d or more", field.least)
	switch {
	case field.unlimited:
		what, right = what+orUnlimited, right+orUnlimited
	case field.off:
		what, right = "off, true or a count", orOff
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case field.unlimited && kind == '"' && text == unlimited:
		*to = Unlimited
	case field.off && (kind == '"' && text == "off" || kind == 'f'):
		*to = 0
	case field.off && kind == 't':
		*to = 1
	case kind != '0' && (kind != '"' || text == "" || !strings.Contains(digits+"+-.", text[:1])):
		Wrong(f, what, v)
	case kind == '"' && err == nil && strconv.FormatInt(n, 10) == text:
		f.Add("%s is text; write it without quotes", Quoted(text))
	case (errors.Is(err, strconv.ErrRange) || err == nil && n > most) && text[0] != '-':
		f.Add("%s is too large; the most is %d: %s", Quoted(text), most, right)
	case field.millionths && millionths(text) != "":
		f.Add("%s is no whole number; it is in millionths of a unit of money: write %s for %s", Quoted(text),
			millionths(text), text)
	case err != nil || strconv.FormatInt(n, 10) != text:
		f.Add("%s is no whole number that can be read; write digits alone, such as 3", Quoted(text))
	case n < 0:
		f.Add("%d is negative; %s", n, right)
	case n == 0 && field.off:
		f.Add("0 is no number of repeats; %s", right)
	case n == 0 && field.absent:
		f.Add("0 is too few; %s", right)
	default:
		*to = n
	}
}

// millionths returns a fraction of at most six decimals in millionths, or "".
func millionths(text string) string {
	const decimals = "000000"
	whole, part, fraction := strings.Cut(text, ".")
	if !fraction || len(part) > len(decimals) || !IsNumber(text) || strings.ContainsAny(text, "eE") {
		return ""
	}
	return cmp.Or(strings.TrimLeft(whole+part+decimals[len(part):], "0"), "0")
}

// duration reads a duration as Go writes it.
func (field *Field) duration(v jsontext.Value, text string, to *time.Duration, f Faults) {
	or, is := "", v.Kind() == '"'
	if field.unlimited {
		or = orUnlimited
	}
	d, err := time.ParseDuration(text)
	switch {
	case field.unlimited && is && text == unlimited:
		*to = Unlimited
	case !is && v.Kind() != '0':
		Wrong(f, "a duration such as 500ms or 2s"+or, v)
	case err == nil && d == 0 && field.absent:
		f.Add("0s leaves no time; write more than 0s%s", or)
	case err == nil && d >= 0:
		*to = d
	case err == nil:
		f.Add("%v is negative; write it without the sign%s", d, or)
	case strings.HasPrefix(text, "-") && IsNumber(text[1:]):
		f.Add("%s is negative; write it without the sign and with a unit%s", text, or)
	case IsNumber(text):
		f.Add("%s has no unit; write %ss or %sms%s", text, text, text, or)
	case isTooLong(text):
		f.Add("%s is longer than a duration can be; write at most 2562047h%s", Quoted(text), or)
	default:
		f.Add("%s is no duration; write one such as 500ms, 2s or 1m30s%s", Quoted(text), or)
	}
}

// isTooLong finds text that would be a duration if its digits were smaller. It has a unit: only "0" needs
// none.
func isTooLong(s string) bool {
	zeros := strings.Map(func(c rune) rune {
		if '0' <= c && c <= '9' {
			return '0'
		}
		return c
	}, s)
	_, err := time.ParseDuration(zeros)
	return err == nil && strings.Trim(s, "+-0123456789") != ""
}

// IsNumber finds a number as JSON writes those of 0 or more.
func IsNumber(text string) bool {
	const digits = "0123456789"
	return text != "" && strings.Contains(digits, text[:1]) && strings.Contains(digits, text[len(text)-1:]) &&
		json.Valid([]byte(text))
}
