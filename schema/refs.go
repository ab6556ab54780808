package schema

import (
	"cmp"
	"reflect"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// references are where the references of some nodes of a schema document lead, by the address of the node: those that are no plain
// pointers from the root, such as names of anchors and what is relative to an id.
type references map[uintptr]any

func referencesIn(tree any, compiled *jsonschema.Schema) references {
	refs := references{}
	eachSchema(compiled, func(s *jsonschema.Schema) {
		to := cmp.Or(s.Ref, s.RecursiveRef)
		if to == nil && s.DynamicRef != nil {
			to = s.DynamicRef.Ref
		}
		node, _ := lookup(tree, tokensOf(s.Location))
		from, ok := node.(map[string]any)
		if to == nil || !ok || to.Location == baseURL+textOf(from["$ref"]) {
			return
		}
		if target, ok := lookup(tree, tokensOf(to.Location)); ok {
			refs[address(from)] = target
		}
	})
	return refs
}

// target is what a node refers to.
func (s *Schema) target(node map[string]any) (any, bool) {
	if len(s.refs) > 0 {
		if to, ok := s.refs[address(node)]; ok {
			return to, true
		}
	}
	ref, ok := node["$ref"].(string)
	if !ok {
		return nil, false
	}
	return lookup(s.tree, tokensOf(ref))
}

// address tells nodes apart.
func address(node map[string]any) uintptr { return reflect.ValueOf(node).Pointer() }
