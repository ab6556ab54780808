package schema

import "reflect"

// spot is a place in a Go type, and how it is read: a field, an element or a key, or the whole.
type spot struct {
	typ     reflect.Type // without pointers
	class   class
	pointer bool
	rules   []rule  // those of the value that the schema does not judge
	related []rule  // those that compare it with fields beside it
	members *layout // of a struct
	each    *spot   // the elements of a list or a map
	key     *spot   // the keys of a map that have rules
}

// layout is the members of a struct.
type layout struct {
	members []member
	byName  map[string]int
	names   map[string]string // in JSON, by those in Go
	related []int             // members with rules that compare fields
}

type member struct {
	name  string
	index []int
	*spot
}

func (l *layout) add(f field, at *spot) {
	if len(at.related) > 0 {
		l.related = append(l.related, len(l.members))
	}
	l.byName[f.name] = len(l.members)
	l.members = append(l.members, member{f.name, f.index, at})
}

// isEmpty reports whether a rule such as omitempty lets a value pass. What a pointer leads to is empty for
// omitzero alone.
func (at *spot) isEmpty(v reflect.Value, omit rule) bool {
	switch {
	case omit.tag == "omitnil" || at.pointer && omit.tag == "omitempty":
		return v.Kind() == reflect.Pointer && v.IsNil()
	case omit.tag == "omitzero" && (v.Kind() == reflect.Slice || v.Kind() == reflect.Map):
		return v.Len() == 0
	}
	return v.IsZero()
}
