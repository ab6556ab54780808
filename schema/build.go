package schema

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/invopop/jsonschema"
)

// builder makes the JSON Schema of a Go type: its rules in standard keywords where these say them exactly,
// else in prose, and then the validator alone judges.
type builder struct {
	structs map[variant]*definition
	order   []*definition // but for the whole
	rules   strings.Builder
}

// variant is a struct type with or without its rules: `validate:"-"` and `structonly` switch them off.
type variant struct {
	typ   reflect.Type
	rules bool
}

// definition is a struct that a schema refers to: the whole, or one under $defs.
type definition struct {
	name    string // under $defs; empty for the whole
	schema  *jsonschema.Schema
	refs    []*jsonschema.Schema
	members *layout
}

// build makes the JSON Schema of a type, and the plan by which documents are read into it.
func build(t reflect.Type) (*jsonschema.Schema, *goType, error) {
	if err := hasNoEnd(t); err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	base, _ := indirect(t)
	path := cmp.Or(base.Name(), base.String())
	b := &builder{structs: map[variant]*definition{}}
	at := b.spot(t, &ruleSet{})
	var doc *jsonschema.Schema
	var err error
	if at.class == classStruct {
		whole := variant{base, true}
		at.members = &layout{}
		b.structs[whole] = &definition{members: at.members}
		doc, err = b.structNode(path, whole, at.members)
	} else {
		doc, err = b.base(path, at, &ruleSet{}, true)
	}
	if err != nil {
		return nil, nil, err
	}
	at.boundNumber(doc)
	b.define(doc)
	return doc, &goType{t, at, b.rules.String()}, nil
}

// spot returns a place of a type. It notes the rules.
func (b *builder) spot(t reflect.Type, rules *ruleSet) *spot {
	base, pointer := indirect(t)
	at := &spot{typ: base, class: classOf(base), pointer: pointer, null: pointer, issues: has(base, issuerType)}
	kind := base.Kind().String()
	if at.class == classText || at.class == classOpaque {
		kind = base.String()
	}
	fmt.Fprintln(&b.rules, kind, pointer)
	for _, r := range rules.rules {
		fmt.Fprintf(&b.rules, "\t%q\n", r.text)
	}
	return at
}

// value makes the schema of a field, key or element: its type, then its rules, then whether it may be null.
// around is the struct around a field; nil for a key or element.
func (b *builder) value(
	path string, t reflect.Type, rules *ruleSet, checked bool, around reflect.Type,
) (*jsonschema.Schema, *spot, error) {
	at := b.spot(t, rules)
	n, err := b.base(path, at, rules, checked && !rules.skipsMembers())
	if err != nil {
		return nil, nil, err
	}
	if checked {
		compiled, err := at.compile(rules.rules, around)
		if err == nil {
			err = at.apply(n, compiled)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("schema: %s: %w", path, err)
		}
		if at.rules, at.rounded, at.related = at.left(compiled); around == nil && len(at.related) > 0 {
			return nil, nil, fmt.Errorf("schema: %s: validate rule %q compares an element or key with a field: "+
				"check that in a method Issues of the struct", path, at.related[len(at.related)-1].text)
		}
	}
	at.boundNumber(n)
	if err := contradiction(n); err != nil {
		return nil, nil, fmt.Errorf("schema: %s: %w", path, err)
	}
	if at.pointer && !(checked && rules.requires()) {
		n = nullable(n)
	}
	return n, at, nil
}

// base makes the schema of a type that is no pointer, without the rules of its field.
func (b *builder) base(path string, at *spot, rules *ruleSet, checked bool) (*jsonschema.Schema, error) {
	t, c := at.typ, at.class
	if rules.dives && c != classList && c != classMap {
		what := t.String()
		if comparedAs(t) == "list" {
			what += ", which is read as one value"
		}
		return nil, fmt.Errorf("schema: %s: validate rule dive needs a slice, an array or a map, not %s", path, what)
	}
	n, err := &jsonschema.Schema{Type: c.jsonType()}, error(nil)
	switch c {
	case classInvalid:
		return nil, fmt.Errorf("schema: %s: %s", path, unsupported(t))
	case classStruct:
		return b.structRef(path, at, checked)
	case classList:
		n, err = b.list(path, at, rules, checked)
	case classMap:
		n, err = b.mapping(path, at, rules, checked)
	case classBytes:
		n.ContentEncoding = "base64"
		if t.Kind() == reflect.Array {
			size := uint64(base64.StdEncoding.EncodedLen(t.Len()))
			n.MinLength, n.MaxLength = &size, &size
			n.Description = upperFirst(at.decoderPhrase()) + "."
		}
	}
	if t == timeType {
		n.Format = "date-time"
	}
	if err == nil {
		err = describeType(n, t)
	}
	if known := at.knownPhrase(); known != "" && n.Description == "" && n.Format == "" {
		n.Description = upperFirst(known) + "."
	}
	// An empty schema would be written as true, which not all providers read.
	switch isEmpty := reflect.DeepEqual(n, &jsonschema.Schema{}); {
	case isEmpty && c == classAny:
		n.Description = "Any value."
	case isEmpty:
		n.Description = "A value that reads as " + t.Name() + "."
	}
	return n, err
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func unsupported(t reflect.Type) string {
	switch t {
	case durationType:
		return "time.Duration has no agreed form in JSON: use a string with validate:\"duration\", or a number with its unit in its name"
	case urlType:
		return "url.URL is read from an object of its parts: use a string with validate:\"url\""
	case numberType:
		return "json.Number has no one form: use an integer, a float64 or json.RawMessage"
	}
	return article(t.String()) + " cannot be read from JSON: give it another type, or the tag json:\"-\""
}

// ofEach returns the rules of the elements, after dive.
func (s *ruleSet) ofEach() *ruleSet {
	if s.elems == nil {
		return &ruleSet{}
	}
	return s.elems
}

func (b *builder) list(path string, at *spot, rules *ruleSet, checked bool) (*jsonschema.Schema, error) {
	items, each, err := b.value(path+"[]", at.typ.Elem(), rules.ofEach(), checked, nil)
	if err != nil {
		return nil, err
	}
	at.each = each
	n := &jsonschema.Schema{Type: "array", Items: items}
	if at.typ.Kind() == reflect.Array {
		size := uint64(at.typ.Len())
		n.MinItems, n.MaxItems = &size, &size
	}
	return n, nil
}

func (b *builder) mapping(path string, at *spot, rules *ruleSet, checked bool) (*jsonschema.Schema, error) {
	if classOf(at.typ.Key()) != classString {
		return nil, fmt.Errorf("schema: %s: map keys must be strings, not %s: write map[string]%s", path, at.typ.Key(), at.typ.Elem())
	}
	values, each, err := b.value(path+"[]", at.typ.Elem(), rules.ofEach(), checked, nil)
	if err != nil {
		return nil, err
	}
	at.each = each
	n := &jsonschema.Schema{Type: "object", AdditionalProperties: values}
	keys := cmp.Or(rules.keys, &ruleSet{})
	if _, describes := reflect.New(at.typ.Key()).Interface().(describer); describes || checked && rules.keys != nil {
		n.PropertyNames, at.key, err = b.value(path+"[key]", at.typ.Key(), keys, checked, nil)
	}
	return n, err
}

// describer is the optional method by which a type says what its values are.
type describer interface{ JSONSchema() *jsonschema.Schema }

// describeType adds to the schema of a type that is no struct what its own methods say.
func describeType(n *jsonschema.Schema, t reflect.Type) error {
	if own, ok := reflect.New(t).Interface().(describer); ok {
		said := own.JSONSchema()
		if said == nil {
			return fmt.Errorf("schema: method JSONSchema of %s returns nil", t)
		}
		if here := kindsOf[n.Type]; said.Type != "" && here != 0 && here&kindsOf[said.Type] == 0 {
			return fmt.Errorf("schema: method JSONSchema of %s says %s, and it is read from a JSON %s", t, said.Type, n.Type)
		}
		add := *said
		add.Version, add.Extras, add.Enum = "", maps.Clone(said.Extras), slices.Clone(said.Enum)
		mergeInto(n, &add)
	}
	extend(n, t)
	return nil
}

// extend lets a type change its schema.
func extend(n *jsonschema.Schema, t reflect.Type) {
	if own, ok := reflect.New(t).Interface().(interface{ JSONSchemaExtend(*jsonschema.Schema) }); ok {
		own.JSONSchemaExtend(n)
	}
}

// boundNumber bounds a whole number by its Go type, where no rule does it more narrowly. The bounds of 64-bit
// integers would not help a model and are left out.
func (at *spot) boundNumber(n *jsonschema.Schema) {
	if at.class != classInt && at.class != classUint {
		return
	}
	bits := at.typ.Bits()
	least, most := "0", strconv.FormatUint(math.MaxUint64>>(64-bits), 10)
	if at.class == classInt {
		least, most = strconv.FormatInt(math.MinInt64>>(64-bits), 10), strconv.FormatInt(math.MaxInt64>>(64-bits), 10)
	}
	isWide := bits == 64 || sizedByMachine(at.typ)
	if at.class == classUint || !isWide {
		boundBy(least, &n.Minimum, &n.ExclusiveMinimum, 1)
	}
	if !isWide {
		boundBy(most, &n.Maximum, &n.ExclusiveMaximum, -1)
	}
}

// boundBy takes the bound of a type where that of a rule is beyond it, or where there is none.
func boundBy(limit string, bound, exclusive *json.Number, sign int) {
	beyond := func(n json.Number) int {
		at, _ := new(big.Rat).SetString(string(n))
		end, _ := new(big.Rat).SetString(limit)
		return at.Cmp(end) * sign
	}
	if *bound != "" && beyond(*bound) <= 0 {
		*bound = ""
	}
	if *exclusive != "" && beyond(*exclusive) < 0 {
		*exclusive = ""
	}
	if *bound == "" && *exclusive == "" {
		*bound = json.Number(limit)
	}
}

// sizedByMachine reports whether a type has 32 bits on some machines and 64 on others. The schema is the same
// on all.
func sizedByMachine(t reflect.Type) bool {
	return t.Kind() == reflect.Int || t.Kind() == reflect.Uint || t.Kind() == reflect.Uintptr
}

// nullable lets a value be null too.
func nullable(n *jsonschema.Schema) *jsonschema.Schema {
	isPlain := n.Ref == "" && n.Not == nil && n.AnyOf == nil && n.AllOf == nil && n.OneOf == nil
	if isPlain && n.Enum != nil && !slices.Contains(n.Enum, nil) {
		n.Enum = append(n.Enum, nil)
	}
	switch {
	case isPlain && n.Type == "", len(n.AnyOf) > 0 && n.AnyOf[len(n.AnyOf)-1].Type == "null":
		return n // null is included
	case !isPlain || n.Const != nil:
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{n, {Type: "null"}}}
	}
	setExtra(n, "type", []string{n.Type, "null"})
	n.Type = ""
	return n
}

func setExtra(n *jsonschema.Schema, name string, v any) {
	if n.Extras == nil {
		n.Extras = map[string]any{}
	}
	n.Extras[name] = v
}

var notInName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_]+`) })

// structRef refers to a struct, and makes its schema where that is new. One without a name stands in its
// place.
func (b *builder) structRef(path string, at *spot, checked bool) (*jsonschema.Schema, error) {
	v := variant{at.typ, checked}
	of := b.structs[v]
	switch {
	case of == nil && at.typ.Name() == "":
		at.members = &layout{}
		return b.structNode(path, v, at.members)
	case of == nil:
		of = &definition{name: b.freeName(v), members: &layout{}}
		b.structs[v], b.order = of, append(b.order, of)
		schema, err := b.structNode(path, v, of.members)
		if err != nil {
			return nil, err
		}
		of.schema = schema
	}
	at.members = of.members
	if of.name == "" {
		return &jsonschema.Schema{Ref: "#"}, nil
	}
	ref := &jsonschema.Schema{Ref: "#/$defs/" + of.name}
	of.refs = append(of.refs, ref)
	return ref, nil
}

func (b *builder) freeName(v variant) string {
	name := notInName().ReplaceAllString(v.typ.Name(), "_")
	if !v.rules {
		name += "_unchecked"
	}
	free := name
	for n := 2; slices.ContainsFunc(b.order, func(of *definition) bool { return of.name == free }); n++ {
		free = name + strconv.Itoa(n)
	}
	return free
}

// define puts the structs that are referred to under $defs. One with a single reference takes its place.
func (b *builder) define(doc *jsonschema.Schema) {
	defs := jsonschema.Definitions{}
	for _, of := range b.order {
		if len(of.refs) != 1 {
			defs[of.name] = of.schema
			continue
		}
		at := of.refs[0]
		beside := *at
		beside.Ref = ""
		*at = *of.schema
		standBeside(at, &beside)
	}
	if len(defs) > 0 {
		doc.Definitions = defs
	}
}

// standBeside adds the keywords that were beside a reference to the schema that replaces it. Annotations of
// the place win over those of the type.
func standBeside(at, beside *jsonschema.Schema) {
	for name, value := range beside.Extras {
		setExtra(at, name, value)
	}
	at.AllOf = append(slices.Clone(at.AllOf), beside.AllOf...)
	beside.Extras, beside.AllOf = nil, nil
	mergeInto(at, beside)
}
