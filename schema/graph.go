package schema

import (
	"errors"
	"reflect"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// eachSchema visits every compiled schema that can be reached from one, each once.
func eachSchema(root *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	seen := map[*jsonschema.Schema]bool{}
	todo := []*jsonschema.Schema{root}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		visit(s)
		v := reflect.ValueOf(s).Elem()
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				todo = appendSchemas(todo, v.Field(i))
			}
		}
	}
}

// appendSchemas finds the schemas in one field: alone, in a list, a map, or behind an interface.
func appendSchemas(list []*jsonschema.Schema, v reflect.Value) []*jsonschema.Schema {
	switch v.Kind() {
	case reflect.Interface:
		return appendSchemas(list, v.Elem())
	case reflect.Pointer:
		if s, ok := v.Interface().(*jsonschema.Schema); ok {
			return append(list, s)
		}
		if d, ok := v.Interface().(*jsonschema.DynamicRef); ok && d != nil {
			return append(list, d.Ref)
		}
	case reflect.Slice:
		for i := range v.Len() {
			list = appendSchemas(list, v.Index(i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			list = appendSchemas(list, it.Value())
		}
	}
	return list
}

// memberNames checks names in the library's place, which reports the names it refuses at places that are not theirs.
type memberNames struct{ names *jsonschema.Schema }

// Validate has the form the library calls for extensions.
func (m memberNames) Validate(ctx *jsonschema.ValidatorContext, v any) {
	members, _ := v.(map[string]any)
	for name := range members {
		err := m.names.Validate(name)
		var cause *jsonschema.ValidationError
		if errors.As(err, &cause) {
			ctx.AddErrors([]*jsonschema.ValidationError{cause}, &kind.PropertyNames{Property: name})
		}
	}
}

// settle adjusts what the library compiled: member names are checked here, formats are asserted only where judges stand, and what stands
// beside a reference counts from Draft 2019-09 on alone, a const too.
func settle(root *jsonschema.Schema, judges map[string]judge) {
	eachSchema(root, func(s *jsonschema.Schema) {
		if s.PropertyNames != nil {
			s.Extensions = append(s.Extensions, memberNames{s.PropertyNames})
		}
		if s.Format != nil {
			if _, ok := judges[s.Format.Name]; !ok {
				s.Format = nil
			}
		}
		if s.Ref != nil && s.DraftVersion < 2019 {
			s.Const = nil
		}
	})
	eachSchema(root, func(s *jsonschema.Schema) {
		if hasNames(s) {
			s.PropertyNames = nil
		}
	})
}

func hasNames(s *jsonschema.Schema) bool {
	for _, e := range s.Extensions {
		if _, ok := e.(memberNames); ok {
			return true
		}
	}
	return false
}

// loops reports whether a schema asks about a value by way of itself.
func loops(root *jsonschema.Schema) bool {
	found, asking := false, map[*jsonschema.Schema]bool{}
	eachSchema(root, func(s *jsonschema.Schema) { found = found || leadsBack(s, asking) })
	return found
}

// leadsBack reports whether judging a value by a schema leads to one that is asked about the same value already. What was asked is false
// once it has answered.
func leadsBack(s *jsonschema.Schema, asking map[*jsonschema.Schema]bool) bool {
	if under, known := asking[s]; known || s == nil {
		return under
	}
	asking[s] = true
	subs := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, []*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else})
	for _, sub := range s.DependentSchemas {
		subs = append(subs, sub)
	}
	for _, dependency := range s.Dependencies {
		sub, _ := dependency.(*jsonschema.Schema)
		subs = append(subs, sub)
	}
	for _, sub := range subs {
		if leadsBack(sub, asking) {
			return true
		}
	}
	asking[s] = false
	return false
}
