package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// knownTypes says what is written for types with a decoder that everyone knows.
var knownTypes = sync.OnceValue(func() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[net.IP]():         rowOf("ip").words,
		reflect.TypeFor[netip.Addr]():     rowOf("ip").words,
		reflect.TypeFor[netip.Prefix]():   rowOf("cidr").words,
		reflect.TypeFor[netip.AddrPort](): rowOf("tcp_addr").words,
		reflect.TypeFor[big.Int]():        "a whole number",
		reflect.TypeFor[big.Float]():      "a string that holds a number such as 1.5",
		reflect.TypeFor[big.Rat]():        "a string that holds a number such as 1.5",
	}
})

// knownPhrase returns what is written for a type, where that is known; every module has a UUID of its own.
func (at *spot) knownPhrase() string {
	if at.typ.Name() == "UUID" && at.class == classText {
		return rowOf("@uuid").words
	}
	return knownTypes()[at.typ]
}

// decoderPhrase says what the decoder of a place reads, as far as that is known here.
func (at *spot) decoderPhrase() string {
	switch known := at.knownPhrase(); {
	case known != "":
		return known
	case at.typ == timeType:
		return rowOf("@date-time").words
	case at.class == classBytes && at.typ.Kind() == reflect.Array:
		return fmt.Sprintf("a base64 string of %d bytes", at.typ.Len())
	case at.class == classBytes:
		return "a base64 string"
	case at.class == classFloat: // of 32 bits
		return "a number from -3.4e38 to 3.4e38"
	}
	return strings.Join(at.appendSaid([]string{"a value that reads as " + at.typ.Name()}), ", ")
}

// nameIn returns the name of a rule in an issue: the JSON Schema keyword where there is one, so that the same
// fault has the same name whoever found it; else the validation tag.
func (r *rule) nameIn(c class) string {
	switch {
	case len(r.alts) > 0:
		return "anyOf"
	case r.tag == "required" && c == classStruct:
		return "minProperties"
	case r.tag == "required": // what is there is not missing
		return "not"
	case r.how == "unique" && c == classList:
		return "uniqueItems"
	case r.hasFormat():
		return "format"
	case r.how == "/":
		return "pattern"
	}
	return r.tag
}

// phrase says what a rule expects, as a phrase that reads after "expected" and after "must be". around is the
// struct around the value, or nil.
func (r *rule) phrase(at *spot, around reflect.Type) string {
	said, param := r.words, r.param
	own, isOwn := currentValidators().own[r.tag]
	switch {
	case len(r.alts) > 0:
		var wants []string
		for _, alt := range r.alts {
			wants = append(wants, alt.phrase(at, around))
		}
		return clip(orList(wants))
	case r.compares():
		return r.sizePhrase(at)
	case r.how == "when":
		param = r.conditions(around)
	case r.relational():
		return clip(r.fieldsPhrase(at, around))
	case r.how == "unique":
		return clip(r.uniquePhrase(at))
	case isOwn:
		said = own.expected
	case r.tag == "datetime":
		param = layoutPhrase(param)
	case strings.HasSuffix(r.tag, "_ignore_case"):
		param = literal(param)
	case r.tag == "oneofci" || r.tag == "noneofci" || r.how == "in":
		if values := r.params(); at.typ.Kind() == reflect.String {
			param = bounded(values, func(v string) string { return literal(v) })
		}
	case r.tag == "required" && at.isWhole():
		said = "a value that is not all zero or empty"
	case r.tag == "required" && (at.class == classText || at.class == classOpaque):
		said = "another value, for this one counts as empty"
	case said == "":
		said, param = "a value that keeps to the rule %", r.text
	}
	if param != "" || isOwn {
		said = strings.ReplaceAll(said, "%", param)
	}
	return clip(said)
}

func (r *rule) sizePhrase(at *spot) string {
	kind := classOfKind(at.typ)
	said, param, noun := r.words, r.param, classes[kind].counts
	switch {
	case at.typ.ConvertibleTo(timeType):
		said = rowOf("time " + r.how).words
	case kind == classString && (r.tag == "eq" || r.tag == "ne"):
		param = literal(param)
	case noun != "":
		if said = cmp.Or(r.row.counts, r.words) + " " + noun; param != "1" {
			said += "s"
		}
	}
	return clip(strings.ReplaceAll(said, "%", param))
}

// fieldsPhrase says what is expected in view of other fields.
func (r *rule) fieldsPhrase(at *spot, around reflect.Type) string {
	fields, said := r.others(), cmp.Or(rowOf(comparedAs(at.typ)+" "+r.tag).words, r.words)
	if len(fields) == 1 && r.how != "field" {
		said = rowOf(strings.TrimSuffix(r.tag, "_all")).words
		said = strings.Replace(said, "any of ", "", 1)
	}
	for n, field := range fields {
		fields[n] = jsonPath(field, around)
	}
	return strings.ReplaceAll(said, "%", strings.Join(fields, ", "))
}

// emptied says of a value that was sent what "to be given" means: the validator takes a zero value for none.
func (at *spot) emptied(said string) string {
	rest, is := strings.CutPrefix(said, "to be given")
	switch {
	case !is:
		return said
	case at.class == classBool:
		return "true" + rest
	case at.class.numeric():
		return "a number other than 0" + rest
	}
	return rowOf("required").words + rest
}

// comparedAs names what values of a type are when the validator compares them with a field.
func comparedAs(t reflect.Type) string {
	switch {
	case t.ConvertibleTo(timeType):
		return "time"
	case t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array, t.Kind() == reflect.Map:
		return "list"
	}
	return ""
}

// conditions returns those of a rule, in words.
func (r *rule) conditions(around reflect.Type) string {
	var conditions []string
	for pair := range slices.Chunk(r.params(), 2) {
		conditions = append(conditions, condition(pair[0], pair[len(pair)-1], around))
	}
	return strings.Join(conditions, " and ")
}

// condition says what a field is, or for a list how many items it has: that is what the validator looks at.
func condition(field, value string, around reflect.Type) string {
	name := jsonPath(field, around)
	if around == nil {
		return name
	}
	switch of, known := reached(reflect.New(around), field); {
	case !known || comparedAs(of.Type()) != "list":
		return name + " is " + cmp.Or(value, `""`)
	case value == "nil":
		return name + " is not given"
	default:
		return name + " has " + count(json.Number(value), classes[classOfKind(of.Type())].counts)
	}
}

// uniquePhrase says what of the items or members differs.
func (r *rule) uniquePhrase(at *spot) string {
	said := r.words
	if at.class == classMap {
		said = "members whose values all differ"
	}
	if r.param != "" {
		said += " in " + jsonPath(r.param, at.typ.Elem())
	}
	return said
}

// layoutWords spells Go's reference time as people do.
var layoutWords = strings.NewReplacer("2006", "YYYY", "01", "MM", "02", "DD", "15", "hh", "04", "mm", "05",
	"ss")

// layoutPhrase says how a time is written. A layout with more than these words has an example.
func layoutPhrase(layout string) string {
	spelled := layoutWords.Replace(layout)
	rest := strings.TrimSuffix(spelled, "Z")
	if strings.ContainsAny(rest, "0123456789ZJPp_") || strings.Contains(rest, "Mon") || strings.Contains(rest, "MST") {
		return "such as " + time.Date(2024, 5, 16, 17, 8, 9, 0, time.UTC).Format(layout)
	}
	return "written as " + spelled
}

// patternPhrases name the patterns that stand for a rule with a name.
var patternPhrases = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, r := range rows() {
		if r.how == "/" && !r.negated && r.words != "" && !strings.Contains(r.words, "%") {
			names[r.what] = r.words
		}
	}
	return names
})

// patternPhrase says what a pattern expects: by name where it has one, and always the pattern itself.
func patternPhrase(pattern string) string {
	if name, ok := patternPhrases()[pattern]; ok {
		return name + ", matching " + pattern
	}
	return "a string matching " + visible(pattern)
}

// visible puts a pattern that has spaces at an end between quotation marks.
func visible(pattern string) string {
	if strings.TrimSpace(pattern) != pattern {
		return literal(pattern)
	}
	return pattern
}

// jsonPath writes a path of Go fields by their names in JSON. The members of an embedded struct have no name
// before theirs.
func jsonPath(goPath string, in reflect.Type) string {
	var path []string
	for name := range strings.SplitSeq(goPath, ".") {
		f, known := fieldOf(in, name)
		if in = f.Type; !known {
			path = append(path, name)
			continue
		}
		named, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.Anonymous || named != "" {
			path = append(path, cmp.Or(named, name))
		}
	}
	return cmp.Or(strings.Join(path, "."), goPath)
}

// fieldOf finds a field of a struct type; not known for nil and for other types.
func fieldOf(t reflect.Type, name string) (f reflect.StructField, known bool) {
	if t == nil {
		return f, false
	}
	if t, _ = indirect(t); t.Kind() != reflect.Struct {
		return f, false
	}
	return t.FieldByName(name)
}
