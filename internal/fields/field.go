package fields

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-go/retake/internal/canon"
)

// Unlimited stands for a bound that was given up; files and JSON spell it by that word.
const Unlimited = -1

const (
	unlimited   = "unlimited"
	orUnlimited = ", or the word unlimited"
)

// Field is one field of a struct, as its tag says.
type Field struct {
	// Name is the field's name in files.
	Name string
	// CorrectionOnly marks a field that means nothing for the transport plane, and CallsOnly one that means
	// nothing for an answer.
	CorrectionOnly, CallsOnly bool

	unlimited, off, positive, absent, millionths bool
	least                                        int
	most                                         int64
	words                                        []string
	each                                         string
}

var known sync.Map // from a type to its []Field

// Of returns the tagged fields of the struct T. The slice is read-only.
func Of[T any]() []Field { return of(reflect.TypeFor[T]()) }

func of(t reflect.Type) []Field {
	if all, ok := known.Load(t); ok {
		return all.([]Field)
	}
	var all []Field
	for n := range t.NumField() {
		tag, tagged := t.Field(n).Tag.Lookup("policy")
		if !tagged {
			break
		}
		all = append(all, parse(tag))
	}
	known.Store(t, all)
	return all
}

func parse(tag string) Field {
	words := strings.Split(tag, ",")
	f := Field{Name: words[0]}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "correction":
			f.CorrectionOnly = true
		case "calls":
			f.CallsOnly = true
		case "absent":
			f.absent = true
		case "unlimited":
			f.unlimited = true
		case "off":
			f.off = true
		case "positive":
			f.positive = true
		case "millionths":
			f.millionths = true
		case "least":
			f.least, _ = strconv.Atoi(value)
		case "most":
			if d, err := time.ParseDuration(value); err == nil {
				f.most = int64(d)
			} else {
				f.most, _ = strconv.ParseInt(value, 10, 64)
			}
		case "words":
			f.words = strings.Split(value, "|")
		case "each":
			f.each = value
		}
	}
	return f
}

// Names returns the names of fields.
func Names(all []Field) []string {
	names := make([]string, len(all))
	for n, f := range all {
		names[n] = f.Name
	}
	return names
}

// said returns what a field says, without its pointer, and whether it says something. A nil pointer, slice or
// map, an empty text, and a struct whose IsZero says so say nothing.
func said(f reflect.Value) (v reflect.Value, says bool) {
	switch f.Kind() {
	case reflect.Pointer:
		return f.Elem(), !f.IsNil()
	case reflect.Slice, reflect.Map:
		return f, !f.IsNil()
	case reflect.String:
		return f, f.Len() > 0
	case reflect.Struct:
		zero, ok := f.Addr().Interface().(interface{ IsZero() bool })
		return f, !ok || !zero.IsZero()
	}
	return f, true
}

// Says reports whether the n-th field of the struct that v points to says something.
func Says(v any, n int) bool {
	_, says := said(reflect.ValueOf(v).Elem().Field(n))
	return says
}

// Over lays what the fields of the struct from say over those of the struct to. Both are pointers to structs
// with the same fields, but to may have values where from has pointers. They share slices, maps, and pointers
// then.
func Over(to, from any) {
	top, below := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	for n := range Fields(to) {
		src, dst := top.Field(n), below.Field(n)
		switch v, says := said(src); {
		case !says:
		case src.Type() == dst.Type():
			dst.Set(src)
		default:
			dst.Set(v)
		}
	}
}

// Copy is [Over] for a struct that says all, and shares nothing: a nil slice or map becomes an empty one.
func Copy(to, from any) {
	top, below := clone(reflect.ValueOf(from).Elem()), reflect.ValueOf(to).Elem()
	for n := range Fields(to) {
		switch v, dst := top.Field(n), below.Field(n); {
		case v.Kind() == reflect.Slice && v.IsNil():
			dst.Set(reflect.MakeSlice(v.Type(), 0, 0))
		case v.Kind() == reflect.Map && v.IsNil():
			dst.Set(reflect.MakeMap(v.Type()))
		case dst.Type() == v.Type():
			dst.Set(v)
		default:
			dst.Set(v.Addr())
		}
	}
}

// Unset sets the n-th field of the struct that v points to to its zero value.
func Unset(v any, n int) { reflect.ValueOf(v).Elem().Field(n).SetZero() }

// Clone returns a copy that shares no memory with v.
func Clone[T any](v T) T { return clone(reflect.ValueOf(v)).Interface().(T) }

func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	detach(c)
	return c
}

// detach copies all that v, which can be set, refers to.
func detach(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Struct:
		for n := range v.NumField() {
			detach(v.Field(n))
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		v.Set(clone(v.Elem()).Addr())
	case v.Kind() == reflect.Slice && !v.IsNil():
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		for n := range c.Len() {
			detach(c.Index(n))
		}
		v.Set(c)
	case v.Kind() == reflect.Map && !v.IsNil():
		c := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, key := range v.MapKeys() {
			c.SetMapIndex(key, clone(v.MapIndex(key)))
		}
		v.Set(c)
	}
}

// written returns a value as encoding/json writes it.
func (f *Field) written(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.Pointer:
		return f.written(v.Elem())
	case f.unlimited && v.Int() == Unlimited:
		return unlimited
	case f.off && v.Int() == 0:
		return "off"
	case v.Type() == reflect.TypeFor[time.Duration]():
		return time.Duration(v.Int()).String()
	case v.Kind() == reflect.Slice:
		all := make([]any, v.Len())
		for n := range all {
			all[n] = f.written(v.Index(n))
		}
		return all
	case v.Kind() == reflect.Map:
		all := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			all[key.String()] = f.written(v.MapIndex(key))
		}
		return all
	}
	return v.Interface()
}

// JSON writes what the struct that v points to says, in the order of its fields. It leaves out zero values
// whose names omit accepts; nil omits none.
func JSON(v any, omit func(name string) bool) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	of := reflect.ValueOf(v).Elem()
	for n, f := range Fields(v) {
		value, says := said(of.Field(n))
		if f.absent && value.IsZero() {
			continue
		}
		empty := says && (value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0)
		if !says || empty && omit != nil && omit(f.Name) {
			continue
		}
		data, err := json.Marshal(f.written(value))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", f.Name, data)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Fields returns the tagged fields of the struct that v points to. The slice is read-only.
func Fields(v any) []Field { return of(reflect.TypeOf(v).Elem()) }

// IsZero reports whether the n-th field of the struct that v points to has its zero value.
func IsZero(v any, n int) bool { return reflect.ValueOf(v).Elem().Field(n).IsZero() }

// Show returns the n-th field of the struct that v points to as text for people.
func Show(v any, n int) string {
	return show(Fields(v)[n].written(reflect.ValueOf(v).Elem().Field(n)))
}

// show returns what is written as text: lists and mappings on one line.
func show(written any) string {
	var words []string
	switch all := written.(type) {
	case []any:
		for _, one := range all {
			words = append(words, show(one))
		}
	case map[string]any:
		for _, key := range canon.Keys(all) {
			words = append(words, key+" "+show(all[key]))
		}
	default:
		return fmt.Sprint(written)
	}
	return cmp.Or(strings.Join(words, ", "), "none")
}

// Checks are checks of names, by the words that tags give: each says what is wrong with a name, or nothing.
type Checks map[string]func(name string) string

// Check notes what is wrong with the fields of the struct that v points to.
func (c Checks) Check(v any, f Faults) {
	c.check(reflect.ValueOf(v).Elem(), f)
}

func (c Checks) check(v reflect.Value, f Faults) {
	for n, field := range of(v.Type()) {
		if value, says := said(v.Field(n)); says {
			c.value(&field, value, f.At(field.Name))
		}
	}
}

// maxNames bounds lists of names.
const maxNames = 1000

func (c Checks) value(field *Field, v reflect.Value, f Faults) {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		field.bounds(v, f)
	case reflect.String:
		c.name(field, v.String(), f)
	case reflect.Slice:
		c.list(field, v, f)
	case reflect.Map:
		for _, key := range keys(v) {
			at, found := f.At(key.String()), f.Found()
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			if c.value(field, value, at); f.Found() == found {
				c.name(field, key.String(), at)
			}
		}
	case reflect.Struct:
		if own, ok := v.Addr().Interface().(interface{ Validate() error }); ok {
			f.Take(own.Validate())
		} else {
			c.check(v, f)
		}
	}
}

func keys(v reflect.Value) []reflect.Value {
	all := v.MapKeys()
	slices.SortFunc(all, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// list checks the entries of a list. One of names has each of them once.
func (c Checks) list(field *Field, v reflect.Value, f Faults) {
	names := field.each != "" && v.Type().Elem().Kind() == reflect.String
	if names && v.Len() > maxNames {
		f.Add("want at most %d entries, got %d", maxNames, v.Len())
		return
	}
	for n := range v.Len() {
		at, found := f.Item(n), f.Found()
		if c.value(field, v.Index(n), at); !names || f.Found() > found {
			continue
		}
		for before := range n {
			if v.Index(before).String() == v.Index(n).String() {
				at.Add("%q appears twice; leave one out", v.Index(n).String())
				break
			}
		}
	}
}

func (c Checks) name(field *Field, name string, f Faults) {
	problem := field.unknown(name)
	if check := c[field.each]; check != nil {
		problem = check(name)
	}
	if problem != "" {
		f.Add("%s", problem)
	}
}

// bounds checks a count or a duration.
func (f *Field) bounds(v reflect.Value, at Faults) {
	n, most, orElse := v.Int(), f.most, ""
	if v.Kind() == reflect.Int {
		most = cmp.Or(most, 1<<31-1) // more than that only some machines can count
	}
	switch {
	case f.unlimited && n == Unlimited, f.absent && n == 0:
		return
	case f.unlimited:
		orElse = orUnlimited
	}
	switch is := v.Type() == reflect.TypeFor[time.Duration](); {
	case is && f.positive && n <= 0:
		at.Add("%v leaves no time; write more than 0s%s", time.Duration(n), orElse)
	case is && n < 0:
		at.Add("%v is negative; write 0s or more%s", time.Duration(n), orElse)
	case is && most > 0 && n > most:
		at.Add("%v is too long; the most is %v", time.Duration(n), time.Duration(most))
	case is:
	case f.off && n < 0:
		at.Add("%d is no number of repeats; %s", n, orOff)
	case n < int64(f.least):
		at.Add("%v is too few; write %d or more%s", v, f.least, orElse)
	case most > 0 && n > most:
		at.Add("%d is too large; the most is %d", n, most)
	}
}

// unknown says what is wrong with a word, or nothing.
func (f *Field) unknown(word string) string {
	if f.words == nil || slices.Contains(f.words, word) {
		return ""
	}
	return Quoted(word) + " is not known; " + Suggest(word, f.words)
}
