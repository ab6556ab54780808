package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
)

// This file is the JSON Schema of Moonshot's servers, which refuse a request with any other: see TypedSchemas
// of [Quirks].

// flavored is the dialect.
func flavored() kit.Dialect {
	d := kit.OpenAI()
	d["$ref"], d["definitions"], d["oneOf"], d["const"] = kit.Check, kit.NestAsDefs, kit.NestAsAnyOf, kit.AsEnum
	for keyword := range strings.FieldsSeq("allOf not if then else contains prefixItems additionalItems " +
		"unevaluatedItems unevaluatedProperties patternProperties propertyNames dependentSchemas dependencies") {
		d[keyword] = kit.Say
	}
	return d
}

// toDefs keeps a reference to a definition, under the name of the place where it is sent.
func toDefs(ref *kit.Member) kit.Treatment {
	to := strings.Replace(kit.Text(ref.Value), "#/definitions/", "#/$defs/", 1)
	if ref.Value = kit.Quote(to); to == "#" || strings.HasPrefix(to, "#/$defs/") {
		return kit.Keep
	}
	return kit.Say
}

// typed gives a converted schema a type. One with a reference or with anyOf has none, and no rule beside it.
func typed(o kit.Object) kit.Object {
	if ref := o.Get("$ref"); ref != nil && len(o) > 1 { // its description may clash with that of the target
		alone := kit.List(kit.Object{kit.Field("$ref", ref)}.JSON())
		o = saying(o.Without("$ref"), isRule).With("anyOf", alone)
	}
	hasRule := slices.ContainsFunc(o.Without("anyOf"), func(m kit.Member) bool { return isRule(m.Name) })
	switch either := o.Get("anyOf"); {
	case o.Get("$ref") != nil, either != nil && !hasRule && len(kit.Items(either)) <= maxEither:
		return o
	case either != nil:
		inWords := strings.ReplaceAll(string(either), `,"type":`+string(anyType), "") // the type is that beside it
		o = saying(o.With("anyOf", json.RawMessage(inWords)), func(keyword string) bool { return keyword == "anyOf" })
	}
	if string(o.Get("items")) == string(anything) {
		o = o.With("items", kit.Object{kit.TextField("description", "Any value."), kit.Field("type", anyType)}.JSON())
	}
	o = ofValues(o)
	switch {
	case o.Get("type") != nil:
	case o.Get("properties") != nil:
		o = o.With("type", kit.Quote("object"))
	case o.Get("items") != nil:
		o = o.With("type", kit.Quote("array"))
	default:
		o = o.With("type", anyType)
	}
	members, _ := kit.ReadObject(o.Get("properties"))
	unknown := func(name json.RawMessage) bool { return members.Get(kit.Text(name)) == nil }
	if required := o.Items("required"); slices.ContainsFunc(required, unknown) {
		known := kit.List(slices.DeleteFunc(slices.Clone(required), unknown)...)
		o = saying(o, func(keyword string) bool { return keyword == "required" }).With("required", known)
	}
	return o
}

// maxEither is how many schemas anyOf may have.
const maxEither = 10

// anyType is the type of a schema for values of any type.
var anyType = json.RawMessage(`["object","array","string","number","boolean","null"]`)

// isRule reports whether a keyword says which values are valid.
func isRule(keyword string) bool {
	return !slices.Contains([]string{"description", "title", "default", "$defs", "$id"}, keyword)
}

// saying returns a schema with some keywords in its description.
func saying(o kit.Object, isSaid func(keyword string) bool) kit.Object {
	d := kit.Dialect{kit.Others: kit.Keep}
	for _, m := range o {
		if isSaid(m.Name) {
			d[m.Name] = kit.Say
		}
	}
	doc, _ := kit.Downgrade{To: d}.Schema(o.JSON())
	out, _ := kit.ReadObject(doc)
	return out
}

// ofValues gives an enum the type of its values, which may be null too. Of other values it is said.
func ofValues(o kit.Object) kit.Object {
	var types []json.RawMessage
	isNullable := false
	for _, v := range o.Items("enum") {
		kind := kit.Quote(kindOf(v))
		isNullable = isNullable || string(v) == "null"
		if !slices.ContainsFunc(types, func(t json.RawMessage) bool { return string(t) == string(kind) }) {
			types = append(types, kind)
		}
	}
	switch {
	case len(types) == 0, kit.Text(o.Get("type")) != "" && !isNullable:
		return o
	case len(types) == 1 && !isNullable:
		return o.With("type", types[0])
	case len(types) == 2 && isNullable:
		return o.With("type", kit.List(types...))
	}
	return saying(o, func(keyword string) bool { return keyword == "enum" })
}

// kindOf returns the type of a value.
func kindOf(v json.RawMessage) string {
	switch v[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}
