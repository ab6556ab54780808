package fields

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
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
	// Also are keys that are no fields of the struct: Then reads them.
	Also []string
	// Then, where there is one, looks at a struct whose members were read; it takes a pointer to it. It
	// reports whether the struct can be used.
	Then func(r *Reader, path string, n Node, taken []Member, v any) bool
}

var tables = map[reflect.Type]*Table{}

// Register makes t the table of the struct T, which is to have its fields first. Packages call it as they are
// initialized.
func Register[T any](t Table) *Table {
	tables[reflect.TypeFor[T]()] = &t
	return &t
}

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
		also := slices.Contains(t.Also, m.Key)
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

// Says is the value of the n-th field of the struct that v points to, and whether it says something.
func Says(v any, n int) (value any, says bool) {
	f := reflect.ValueOf(v).Elem().Field(n)
	switch f.Kind() {
	case reflect.Pointer:
		if f.IsNil() {
			return nil, false
		}
		return f.Elem().Interface(), true
	case reflect.Slice, reflect.Map:
		return f.Interface(), !f.IsNil()
	case reflect.String:
		return f.Interface(), f.Len() > 0
	}
	value = f.Interface()
	zero, ok := value.(interface{ IsZero() bool })
	return value, !ok || !zero.IsZero()
}

// Set sets the n-th field of the struct that to points to, to a copy of the value.
func (t *Table) Set(to any, n int, value any) {
	f, v := reflect.ValueOf(to).Elem().Field(n), reflect.ValueOf(t.Rows[n].Type.clone(value))
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		f = f.Elem()
	}
	f.Set(v)
}

// Over lays all that the struct from says over the struct to. Both are pointers; one of them may have values
// where the other has pointers.
func (t *Table) Over(to, from any) {
	for n := range t.Rows {
		if v, says := Says(from, n); says {
			t.Set(to, n, v)
		}
	}
}

// Check notes what is wrong with the fields of the struct that v points to.
func (t *Table) Check(v any, f Faults) {
	for n, row := range t.Rows {
		if value, says := Says(v, n); says {
			row.Type.check(value, f.At(row.Name))
		}
	}
}

// Show is a value of the n-th field as text for people.
func (t *Table) Show(n int, value any) string { return t.Rows[n].Type.show(value) }

// JSON writes what the struct that v points to says, in the order of its fields.
func (t *Table) JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for n, row := range t.Rows {
		value, says := Says(v, n)
		if !says {
			continue
		}
		data, err := json.Marshal(row.Type.write(value))
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
