package schema

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// What is compiled of a document. Time grows with the square of the number of subschemas; with these bounds
// it is less than a second of CPU time.
const (
	maxSubschemas   = 10_000
	maxPointerBytes = 1_000_000 // of the JSON Pointers of all subschemas together
	maxPatternBytes = 64 << 10
	maxPatternSteps = 4 * maxPatternBytes // of their programs, and of what Go writes out to make them
)

// costOfElsewhere is the work of the library, in plain subschemas, for a reference to a place that is no
// subschema, and for one by an $id and a pointer.
const costOfElsewhere = 100

// compilable counts what compiling a document would take, before the library is asked.
func compilable(tree any) error {
	s := survey{}
	s.schema(tree, 0)
	if s.subschemas <= maxSubschemas && s.pointers <= maxPointerBytes && len(s.refs) > 0 {
		s.references(tree)
	}
	switch {
	case s.subschemas > maxSubschemas && s.elsewhere > 0:
		return fmt.Errorf("schema: counts as %d subschemas, at most %d are compiled: a reference to a place that is no "+
			"subschema counts as %d, so put what it leads to under $defs", s.subschemas, maxSubschemas, costOfElsewhere)
	case s.subschemas > maxSubschemas:
		return fmt.Errorf("schema: counts as %d subschemas, at most %d are compiled", s.subschemas, maxSubschemas)
	case s.pointers > maxPointerBytes:
		return fmt.Errorf("schema: the JSON Pointers of its subschemas have %d bytes, at most %d are compiled: use shorter names "+
			"or less nesting", s.pointers, maxPointerBytes)
	case s.patterns > maxPatternBytes:
		return fmt.Errorf("schema: its patterns have %d bytes, at most %d are compiled", s.patterns, maxPatternBytes)
	}
	return nil
}

// survey counts what a schema document has.
type survey struct {
	subschemas, pointers, patterns int
	refs                           []string
	elsewhere                      int // of the refs, those that lead to no subschema
}

// holds says how a keyword holds subschemas, in any draft.
type holds uint8

const (
	holdsOne  holds = 1 << iota // the schema itself
	holdsList                   // a list of them
	holdsMap                    // an object of them
)

var keywords = map[string]holds{
	"not": holdsOne, "additionalProperties": holdsOne, "additionalItems": holdsOne, "propertyNames": holdsOne,
	"contains": holdsOne, "if": holdsOne, "then": holdsOne, "else": holdsOne, "unevaluatedProperties": holdsOne,
	"unevaluatedItems": holdsOne, "contentSchema": holdsOne, "items": holdsOne | holdsList,
	"allOf": holdsList, "anyOf": holdsList, "oneOf": holdsList, "prefixItems": holdsList,
	"definitions": holdsMap, "properties": holdsMap, "patternProperties": holdsMap, "dependencies": holdsMap,
	"$defs": holdsMap, "dependentSchemas": holdsMap,
}

// within calls visit for each schema right within another, with the steps that lead to it.
func within(schema any, visit func(sub any, steps ...string)) {
	node, _ := schema.(map[string]any)
	for keyword, value := range node {
		how := keywords[keyword]
		if how&holdsOne != 0 && (isObject(value) || isBool(value)) {
			visit(value, keyword)
		}
		switch value := value.(type) {
		case map[string]any:
			for name, sub := range value {
				if how&holdsMap != 0 {
					visit(sub, keyword, name)
				}
			}
		case []any:
			for n, sub := range value {
				if how&holdsList != 0 {
					visit(sub, keyword, strconv.Itoa(n))
				}
			}
		}
	}
}

// subschemas adds a schema and all schemas within it by their JSON Pointers.
func subschemas(all map[string]any, schema any, pointer string) {
	all[pointer] = schema
	within(schema, func(sub any, steps ...string) { subschemas(all, sub, pointer+canon.Pointer(steps...)) })
}

// schema counts a schema, whose JSON Pointer has so many bytes.
func (s *survey) schema(tree any, pointer int) {
	if !isObject(tree) && !isBool(tree) {
		return
	}
	s.subschemas++
	s.pointers += pointer
	node, _ := tree.(map[string]any)
	if isNamed(node) {
		s.subschemas++
	}
	for keyword, value := range node {
		text, isText := value.(string)
		patterns, _ := value.(map[string]any)
		switch {
		case isText && (keyword == "$ref" || keyword == "$dynamicRef" || keyword == "$recursiveRef"):
			s.refs = append(s.refs, text)
		case keyword == "pattern":
			s.patterns += len(text)
		case keyword == "patternProperties":
			for pattern := range patterns {
				s.patterns += len(pattern)
			}
		}
	}
	within(tree, func(sub any, steps ...string) { s.schema(sub, pointer+len(steps)+len(strings.Join(steps, ""))) })
}

// references looks for references that lead to no subschema. Where there are some, each object of the
// document may become a schema.
func (s *survey) references(tree any) {
	places := map[string]any{}
	subschemas(places, tree, "")
	for _, ref := range s.refs {
		base, fragment, _ := strings.Cut(ref, "#")
		plain, err := url.PathUnescape(fragment)
		isPointer := err == nil && strings.HasPrefix(plain, "/")
		if _, leadsToSchema := places[plain]; isPointer && (base != "" || !leadsToSchema) {
			s.elsewhere++
		}
	}
	if s.elsewhere > 0 {
		s.subschemas, s.pointers = costOfElsewhere*s.elsewhere, 0
		everything(tree, 0, func(v any, pointer int) {
			if isObject(v) {
				s.subschemas++
				s.pointers += pointer
			} else if isBool(v) {
				s.subschemas++
			}
		})
	}
}

// everything visits a value of a document and all that is within it, each with the size of its JSON Pointer.
func everything(tree any, pointer int, visit func(v any, pointer int)) {
	visit(tree, pointer)
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			everything(value, pointer+1+len(name), visit)
		}
	case []any:
		for n, value := range tree {
			everything(value, pointer+1+len(strconv.Itoa(n)), visit)
		}
	}
}

func isObject(v any) bool { _, ok := v.(map[string]any); return ok }

// isNamed reports whether a schema has a name that the library looks for in a list of all.
func isNamed(node map[string]any) bool {
	return node["$id"] != nil || textOf(node["id"]) != "" || node["$dynamicAnchor"] != nil
}
