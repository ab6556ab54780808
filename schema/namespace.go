package schema

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-playground/validator/v10"
)

// place is a value inside a decoded document, by the names of JSON.
type place struct {
	pointer string
	typ     reflect.Type
	value   any
	names   map[string]string // the fields beside it
	holder  any               // the struct it is a field of, if it is one
	goName  string
}

// places finds the places of a value by the names the validator gives them. Such a name is ambiguous, for map keys may hold
// anything: the value is walked to find every place it can mean, and no name is ever taken apart.
type places struct {
	names  []string // of failures, sorted
	byName map[string][]place
}

func placesOf(v reflect.Value, failures validator.ValidationErrors) places {
	p := places{byName: map[string][]place{}}
	for _, f := range failures {
		p.names = append(p.names, f.StructNamespace())
	}
	slices.Sort(p.names)
	base, _ := indirect(v.Type())
	root := ""
	if classOf(base) == classStruct && base.Name() != "" {
		root = base.Name() + "."
	}
	p.walk(v, strings.TrimSuffix(root, "."), place{})
	return p
}

// walk lists a value under its name and goes on into it. here is what is known of its place.
func (p places) walk(v reflect.Value, name string, here place) {
	if at, _ := slices.BinarySearch(p.names, name); at == len(p.names) || !strings.HasPrefix(p.names[at], name) {
		return // nothing fails here
	}
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	here.typ = v.Type()
	if v.CanInterface() {
		here.value = v.Interface()
	}
	p.byName[name] = append(p.byName[name], here)
	switch classOf(v.Type()) {
	case classStruct:
		p.walkStruct(v, name, here)
	case classList:
		for n := range v.Len() {
			index := strconv.Itoa(n)
			p.walk(v.Index(n), name+"["+index+"]", place{pointer: here.pointer + "/" + index})
		}
	case classMap:
		keys := map[string]reflect.Value{}
		for _, key := range v.MapKeys() {
			keys[key.String()] = key
		}
		for _, text := range slices.Sorted(maps.Keys(keys)) {
			inner := name + "[" + fmt.Sprintf("%v", keys[text]) + "]"
			p.walk(v.MapIndex(keys[text]), inner, place{pointer: here.pointer + "/" + pointerEscaper.Replace(text)})
		}
	}
}

func (p places) walkStruct(v reflect.Value, name string, here place) {
	fields := layoutOf(v.Type()).all
	names := namesOf(fields)
	for _, f := range fields {
		member := place{pointer: here.pointer + "/" + pointerEscaper.Replace(f.name), names: names, holder: here.value, goName: f.goName}
		p.walk(v.FieldByIndex(f.index), joinName(v.Type(), name, f.index), member)
	}
}

// joinName is the name of a field as the validator writes it: embedded structs are named too.
func joinName(t reflect.Type, name string, index []int) string {
	for n := range index {
		part := t.FieldByIndex(index[:n+1]).Name
		if name != "" {
			name += "."
		}
		name += part
	}
	return name
}

// of lists the places a failure can mean: all of its name whose value is the one that failed, and whose struct fails there.
func (p places) of(f validator.FieldError) []place {
	all := p.byName[f.StructNamespace()]
	switch len(all) {
	case 0:
		return []place{{}}
	case 1:
		return all
	}
	var meant []place
	for _, at := range all {
		if reflect.DeepEqual(at.value, f.Value()) && at.fails(f) {
			meant = append(meant, at)
		}
	}
	return meant
}

// fails asks the validator about the struct around a place alone.
func (at place) fails(f validator.FieldError) bool {
	if at.holder == nil || classOf(reflect.TypeOf(at.holder)) != classStruct {
		return true
	}
	var failures validator.ValidationErrors
	errors.As(rulebook().Struct(at.holder), &failures)
	return slices.ContainsFunc(failures, func(g validator.FieldError) bool {
		return g.StructField() == at.goName && g.Tag() == f.Tag()
	})
}

func (at place) ruleOf(f validator.FieldError) (rule, class) {
	r := parseRule(f.Tag())
	if f.Param() != "" && len(r.alts) == 0 {
		r.param = f.Param()
		r.text = r.tag + "=" + r.param
	}
	if at.typ == nil {
		return r, classAny
	}
	base, _ := indirect(at.typ)
	return r, classOf(base)
}
