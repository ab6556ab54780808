package fields

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// Row is one field of a struct of settings.
type Row struct {
	// Name is the field's name in files.
	Name string
	Type anyType
	// CorrectionOnly marks a field that means nothing for the transport plane.
	CorrectionOnly bool
}

// Table has the rows of a struct, in the order of its fields. The struct may have a pointer where a row has a
// value.
//
// A field says nothing where it is a nil pointer, slice or map, an empty text, or a struct whose IsZero says
// so. All others say something.
type Table struct {
	Rows []Row
	// Also are keys that are no fields of the struct: Then reads them. So are Hidden, which no hint names.
	Also, Hidden []string
	// Then, where there is one, looks at a struct whose members were read; it takes a pointer to it. It
	// reports whether the struct can be used.
	Then func(r *Reader, path string, n Node, taken []Member, v any) bool
	// Omit, where there is one, reports whether JSON leaves out the field of that name if it is empty. It takes
	// a pointer to the struct.
	Omit func(v any, name string) bool
}

// Types are the types of fields, by the names that tags give them.
type Types map[string]anyType

var tables = map[reflect.Type]*Table{}

// Register makes t the table of the struct T. A row is made from the tag of each field, up to the first
// without one: `policy:"model_timeout,timeout"` is the field's name in files and its type in types. A third
// word, correction, marks a field that means nothing for the transport plane. Packages call Register as they
// are initialized.
func Register[T any](types Types, t Table) *Table {
	of := reflect.TypeFor[T]()
	for n := range of.NumField() {
		tag, tagged := of.Field(n).Tag.Lookup("policy")
		if !tagged {
			break
		}
		words := strings.Split(tag, ",")
		t.Rows = append(t.Rows, Row{words[0], types[words[1]], slices.Contains(words, "correction")})
	}
	tables[of] = &t
	return &t
}

// RegisterAs makes t the table of the struct T, too. Its first fields are those of the other struct, or
// pointers to such values.
func RegisterAs[T any](t *Table) { tables[reflect.TypeFor[T]()] = t }

// For is the table of the struct T.
func For[T any]() *Table { return tables[reflect.TypeFor[T]()] }

// Names are the names of the fields.
func (t *Table) Names() []string {
	names := make([]string, len(t.Rows))
	for n, row := range t.Rows {
		names[n] = row.Name
	}
	return names
}

// Keys are all keys that a mapping may have.
func (t *Table) Keys() []string { return slices.Concat(t.Also, t.Names()) }

// Read reads a mapping into a struct, and returns whether it can be used. What a field could not be read to
// stays as it is.
func (t *Table) Read(r *Reader, path string, n Node, into any) bool {
	before, to := r.Found(), reflect.ValueOf(into).Elem()
	var taken []Member
	r.Mapping(path, n, func(full string, m Member) {
		at := slices.IndexFunc(t.Rows, func(row Row) bool { return row.Name == m.Key })
		also := slices.Contains(t.Also, m.Key) || slices.Contains(t.Hidden, m.Key)
		if at < 0 && !also {
			r.Fault(m.At, full, "this key is not known here", suggestKey(m.Key, t.Keys()))
			return
		}
		if taken = append(taken, m); also {
			return
		}
		f := to.Field(at)
		if f.Kind() != reflect.Pointer {
			t.Rows[at].Type.read(r, full, m.Value, f.Addr().Interface())
		} else if v := reflect.New(f.Type().Elem()); t.Rows[at].Type.read(r, full, m.Value, v.Interface()) {
			f.Set(v)
		}
	})
	if t.Then != nil && n.Kind == Mapping {
		return t.Then(r, path, n, taken, into)
	}
	return r.Found() == before
}

// said is what a field says, without its pointer, and whether it says something.
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

// Value is the value of the n-th field of the struct that v points to; nil for a nil pointer.
func Value(v any, n int) any {
	f := reflect.ValueOf(v).Elem().Field(n)
	if f.Kind() == reflect.Pointer && f.IsNil() {
		return nil
	}
	f, _ = said(f)
	return f.Interface()
}

// Copy sets the n-th field of the struct to to a copy of what that of from says: an empty slice or map if it
// is nil. Both are pointers; one struct may have values where the other has pointers.
func (t *Table) Copy(to, from any, n int) {
	v, says := said(reflect.ValueOf(from).Elem().Field(n))
	switch v = clone(v); {
	case !says && v.Kind() == reflect.Slice:
		v = reflect.MakeSlice(v.Type(), 0, 0)
	case !says && v.Kind() == reflect.Map:
		v = reflect.MakeMap(v.Type())
	}
	set(reflect.ValueOf(to).Elem().Field(n), v)
}

// Clone returns a copy that shares no memory with v.
func Clone[T any](v T) T { return clone(reflect.ValueOf(v)).Interface().(T) }

func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch {
	case v.Kind() == reflect.Struct:
		for n := range v.NumField() {
			c.Field(n).Set(clone(v.Field(n)))
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		c.Set(reflect.New(v.Type().Elem()))
		c.Elem().Set(clone(v.Elem()))
	case v.Kind() == reflect.Slice && !v.IsNil():
		c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for n := range v.Len() {
			c.Index(n).Set(clone(v.Index(n)))
		}
	case v.Kind() == reflect.Map && !v.IsNil():
		c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for _, key := range v.MapKeys() {
			c.SetMapIndex(key, clone(v.MapIndex(key)))
		}
	}
	return c
}

func set(dst, v reflect.Value) {
	if dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
	}
	dst.Set(v)
}

// Over lays all that the struct from says over the struct to. Both are pointers; one of them may have values
// where the other has pointers. The two share what they point to, and slices and maps.
func (t *Table) Over(to, from any) {
	top, below := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	for n := range t.Rows {
		src, dst := top.Field(n), below.Field(n)
		switch v, says := said(src); {
		case !says:
		case src.Type() == dst.Type():
			dst.Set(src)
		default:
			set(dst, v)
		}
	}
}

// Check notes what is wrong with the fields of the struct that v points to.
func (t *Table) Check(v any, f Faults) {
	of := reflect.ValueOf(v).Elem()
	for n := range t.Rows {
		if value, says := said(of.Field(n)); says {
			t.Rows[n].Type.check(value.Addr().Interface(), f.At(t.Rows[n].Name))
		}
	}
}

// Show is a value of the n-th field as text for people.
func (t *Table) Show(n int, value any) string { return show(t.Rows[n].Type.write(value)) }

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

// JSON writes what the struct that v points to says, in the order of its fields.
func (t *Table) JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for n, row := range t.Rows {
		f := reflect.ValueOf(v).Elem().Field(n)
		empty := f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0
		if !Says(v, n) || empty && t.Omit != nil && t.Omit(v, row.Name) {
			continue
		}
		data, err := json.Marshal(row.Type.write(Value(v, n)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.Name, err)
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", row.Name, data)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
