package schema

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// lower makes a program of a compiled schema. It returns nil where the schema has anything that programs do not know.
func lower(root *jsonschema.Schema, judges map[string]judge) *node {
	n, _ := lowerTo(nil, root, judges)
	return n
}

// lowerTo is lower for values that are put into variables of a Go type. They are plain where each is the same however it is written:
// where no type reads JSON of its own.
func lowerTo(t reflect.Type, root *jsonschema.Schema, judges map[string]judge) (n *node, plain bool) {
	if loops(root) {
		return nil, false
	}
	l := &lowering{judges: judges, made: map[placed]*node{}, orNull: map[*node]*node{}}
	n = l.node(root, t)
	if l.unknown {
		return nil, false
	}
	for _, n := range l.made {
		l.complete(n)
	}
	return n, !l.other
}

type lowering struct {
	judges  map[string]judge
	made    map[placed]*node
	orNull  map[*node]*node // nodes that are to be another one or null
	unknown bool
	other   bool // some value is left to the decoder
	within  int  // how many nodes around this one hold what nothing else describes to something
}

// complete makes a node that is another one or null a copy of that, once all are made.
func (l *lowering) complete(n *node) {
	inner, ok := l.orNull[n]
	if !ok {
		return
	}
	delete(l.orNull, n)
	l.complete(inner)
	whole, said := n.whole, n.said
	*n = *inner
	n.orNull, n.whole, n.said = true, whole, said
}

// placed is a schema and the Go type it is for, nil for none.
type placed struct {
	schema *jsonschema.Schema
	typ    reflect.Type
}

// told are the fields of a compiled schema that no document is held to by themselves; known are those that programs know.
var (
	told = []string{
		"DraftVersion", "Location", "ID", "Anchor", "RecursiveAnchor", "DynamicAnchor", "Title", "Description", "Default",
		"Comment", "ReadOnly", "WriteOnly", "Examples", "Deprecated",
	}
	known = []string{
		"Bool", "Ref", "Types", "Enum", "Const", "Not", "AllOf", "AnyOf", "OneOf", "If", "Then", "Else", "Format",
		"MaxProperties", "MinProperties", "Required", "Properties", "AdditionalProperties", "MinItems", "MaxItems", "UniqueItems", "Items",
		"Items2020", "MinLength", "MaxLength", "Pattern", "Maximum", "Minimum", "ExclusiveMaximum", "ExclusiveMinimum",
		"MultipleOf", "PrefixItems", "Contains", "MinContains", "MaxContains", "PatternProperties", "DependentRequired",
		"Extensions", "AdditionalItems", "Dependencies", "DependentSchemas", "UnevaluatedProperties", "UnevaluatedItems",
	}
)

// holdsOnly reports whether a schema says nothing beyond some keywords.
func holdsOnly(s *jsonschema.Schema, keywords ...string) bool {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.IsExported() && !v.Field(i).IsZero() && !slices.Contains(told, f.Name) && !slices.Contains(keywords, f.Name) {
			return false
		}
	}
	return true
}

func (l *lowering) node(s *jsonschema.Schema, t reflect.Type) *node {
	for s.Ref != nil && (s.DraftVersion < 2019 || holdsOnly(s, "Ref")) {
		s = s.Ref
	}
	key := placed{s, t}
	if n, ok := l.made[key]; ok {
		return n
	}
	n := &node{lib: s, whole: s, said: newSaid()}
	l.made[key] = n
	switch {
	case !holdsOnly(s, known...):
		l.unknown = true
	case isNullable(s):
		l.orNull[n] = l.node(s.AnyOf[0], t)
	default:
		l.fill(n, s, t)
	}
	return n
}

// isNullable reports whether a schema is another one or null.
func isNullable(s *jsonschema.Schema) bool {
	if len(s.AnyOf) != 2 || !holdsOnly(s, "AnyOf") || !holdsOnly(s.AnyOf[1], "Types") {
		return false
	}
	types := s.AnyOf[1].Types
	return types != nil && slices.Equal(types.ToStrings(), []string{"null"})
}

func (l *lowering) fill(n *node, s *jsonschema.Schema, t reflect.Type) {
	n.never = s.Bool != nil && !*s.Bool
	if s.Types != nil {
		for _, name := range s.Types.ToStrings() {
			n.types |= kindNamed[name]
		}
	}
	n.values = l.values(s)
	n.text = l.text(s)
	n.number = numberTestsOf(s)
	if s.Format != nil {
		n.format = newFormatTest(l.judges[s.Format.Name])
	}
	fields := l.bind(n, t)
	n.list = l.list(s, n.bind.elemOf(bindSlice))
	n.object = l.object(s, n.bind.elemOf(bindMap, bindTexts), fields)
	n.more = l.branches(s)
}

func (l *lowering) branches(s *jsonschema.Schema) *branches {
	if tooManyBranches(s) || l.within > maxWithin {
		l.unknown = true
		return nil
	}
	if speaksOfRest(s) {
		l.within++
		defer func() { l.within-- }()
	}
	b := &branches{all: l.nodes(s.AllOf), any: l.nodes(s.AnyOf), one: l.nodes(s.OneOf)}
	if s.Ref != nil {
		b.all = append(b.all, l.node(s.Ref, nil))
	}
	b.all = append(b.all, l.dependents(s)...)
	for _, sub := range []struct {
		from *jsonschema.Schema
		to   **node
	}{
		{s.Not, &b.not}, {s.If, &b.cond}, {s.Then, &b.onTrue}, {s.Else, &b.onElse},
		{s.UnevaluatedProperties, &b.restMembers}, {s.UnevaluatedItems, &b.restItems},
	} {
		if sub.from != nil {
			*sub.to = l.node(sub.from, nil)
		}
	}
	if b.all == nil && b.any == nil && b.one == nil && b.not == nil && b.cond == nil && b.restMembers == nil && b.restItems == nil {
		return nil
	}
	return b
}

// maxBranches is how many branches a node may have that each read the whole value once more, and maxWithin how deep nodes may lie in one
// another that each hold what is left to something: of more the library makes less work.
const maxBranches, maxWithin = 64, 16

func tooManyBranches(s *jsonschema.Schema) bool {
	dependents := len(s.DependentSchemas) + len(s.Dependencies)
	return dependents > maxBranches || speaksOfRest(s) && dependents+len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > maxBranches
}

// speaksOfRest reports whether a schema holds to something what nothing else describes.
func speaksOfRest(s *jsonschema.Schema) bool {
	return s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil
}

func (l *lowering) nodes(list []*jsonschema.Schema) []*node {
	var nodes []*node
	for _, s := range list {
		nodes = append(nodes, l.node(s, nil))
	}
	return nodes
}

func (l *lowering) text(s *jsonschema.Schema) *textTests {
	if s.MinLength == nil && s.MaxLength == nil && s.Pattern == nil {
		return nil
	}
	t := &textTests{min: countOr(s.MinLength, 0), max: countOr(s.MaxLength, -1), pattern: s.Pattern}
	if s.Pattern != nil {
		if t.charset = charsetOf(s.Pattern.String()); t.charset != nil {
			t.pattern = nil
		}
	}
	return t
}

func numberTestsOf(s *jsonschema.Schema) *numberTests {
	if s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil && s.MultipleOf == nil {
		return nil
	}
	return &numberTests{
		min: newBound(s.Minimum), max: newBound(s.Maximum), above: newBound(s.ExclusiveMinimum), below: newBound(s.ExclusiveMaximum),
		of: newMultiple(s.MultipleOf),
	}
}

func countOr(n *int, none int) int {
	if n == nil {
		return none
	}
	return *n
}

var charsetPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\^\[((?:[a-zA-Z0-9 _]|[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9])+)\]\+\$$`)
})

// charsetOf reads a pattern of the form ^[a-z]+$; nil where it has another.
func charsetOf(pattern string) *charset {
	found := charsetPattern().FindStringSubmatch(pattern)
	if found == nil {
		return nil
	}
	one, err := regexp.Compile("^[" + found[1] + "]$")
	if err != nil {
		return nil
	}
	c := &charset{}
	for b := range c {
		c[b] = one.MatchString(string(rune(b)))
	}
	return c
}

// sub is what items and members are held to; of those that no schema is for, anything will do.
func (l *lowering) sub(s *jsonschema.Schema, t reflect.Type) *node {
	switch {
	case s != nil:
		return l.node(s, t)
	case t == nil:
		return anything
	}
	n := *anything
	n.bind.kind, l.other = bindOther, true
	return &n
}

func (l *lowering) object(s *jsonschema.Schema, elem reflect.Type, fields []field) *objectTests {
	t := &objectTests{min: countOr(s.MinProperties, 0), max: countOr(s.MaxProperties, -1)}
	additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
	if t.rest = l.sub(additional, elem); additional != nil && additional.Bool != nil && !*additional.Bool {
		l.unknown = true // drafts differ in whose fault that is
	}
	allowed, said := s.AdditionalProperties.(bool)
	t.closed, t.saidRest = said && !allowed, s.AdditionalProperties != nil
	if elem != nil && len(s.Properties)+len(s.Required) > 0 {
		l.unknown = true // all members of a map are of the rest
	}
	for _, e := range s.Extensions {
		names, ok := e.(memberNames)
		if !ok || t.names != nil {
			l.unknown = true
			continue
		}
		t.names = l.node(names.names, nil)
	}
	for _, name := range inOrder(s.PatternProperties) {
		t.patterns = append(t.patterns, pattern{name, l.node(s.PatternProperties[name], nil)})
	}
	l.unknown = l.unknown || (elem != nil || fields != nil) && (t.patterns != nil || s.DependentRequired != nil || s.Dependencies != nil)
	l.members(t, s, fields)
	return t
}

// members names the members in the order of the Go struct, or in that of their names. One that is only required is one of the rest.
func (l *lowering) members(t *objectTests, s *jsonschema.Schema, fields []field) {
	names := slices.Sorted(maps.Keys(s.Properties))
	if fields != nil {
		l.unknown = l.unknown || len(fields) != len(names) || !t.closed
		names = nil
	}
	for _, f := range fields {
		names = append(names, f.name)
	}
	needed := needsIn(s)
	wanted := slices.Clone(s.Required)
	for _, n := range needed {
		wanted = append(append(wanted, n.name), n.others...)
	}
	for _, name := range wanted {
		if len(names) <= maxNamed && !slices.Contains(names, name) {
			_, matching := t.matching(name)
			l.unknown = l.unknown || t.closed && matching == 0 || fields != nil
			names = append(names, name)
		}
	}
	if len(names) > maxNamed {
		l.unknown = true
		return
	}
	for n, name := range names {
		t.members = append(t.members, l.member(t, s, name, fields, n))
		if slices.Contains(s.Required, name) {
			t.required |= 1 << n
		}
		if _, said := s.Properties[name]; said {
			t.said |= 1 << n
		}
	}
	for _, n := range needed {
		t.needs = append(t.needs, n.of(names))
	}
	t.index()
}

func (l *lowering) member(t *objectTests, s *jsonschema.Schema, name string, fields []field, n int) member {
	m := member{name: name, node: t.rest}
	var typ reflect.Type
	if fields != nil {
		m.field, m.path, typ = fields[n].index[0], fields[n].index[1:], fields[n].typ
	}
	sub, said := s.Properties[name]
	if said {
		m.node = l.node(sub, typ)
	}
	if one, number := t.matching(name); number == 1 && !said {
		m.node = one
	} else if number > 0 {
		l.unknown = l.unknown || fields != nil
		m.node = l.several(m.node, said, t.patterns, name)
	}
	return m
}

func (t *objectTests) index() {
	if len(t.members) <= fewToScan {
		return
	}
	t.byName = map[string]int{}
	for n, m := range t.members {
		t.byName[m.name] = n
	}
}
