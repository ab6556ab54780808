package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// Bounds of a phrase: what a model reads stays short however large the schema is.
const (
	maxPhrase  = 400 // bytes
	maxListed  = 12  // values or names
	maxLiteral = 60  // bytes of one value
)

// phraseRow says what would be right by a keyword: a member of the schema node, between two texts. It reads
// after "expected".
type phraseRow struct {
	keyword string
	before  string
	value   func(any) string // says the member; nil where there is nothing to say of it
	after   string
	of      string // the member, where it is not the keyword's own
	marks   string // the member, where the keyword's own is just true
	twin    string // the other bound: where both are the same, there is one right number

	types []string // descriptions of these types have the constraint too
}

var numeric, textual, listed = []string{"integer", "number"}, []string{"string"}, []string{"array"}

var phrases = [...]phraseRow{
	{keyword: "enum", value: oneOf},
	{keyword: "const", value: literal},
	{keyword: "minimum", before: "at least ", value: literal, types: numeric},
	{keyword: "exclusiveMinimum", before: "more than ", value: literal, marks: "minimum", types: numeric},
	{keyword: "maximum", before: "at most ", value: literal, types: numeric},
	{keyword: "exclusiveMaximum", before: "less than ", value: literal, marks: "maximum", types: numeric},
	{keyword: "multipleOf", before: "a multiple of ", value: literal, types: numeric},
	{keyword: "minLength", before: "at least ", value: characters, twin: "maxLength", types: textual},
	{keyword: "maxLength", before: "at most ", value: characters, twin: "minLength", types: textual},
	{keyword: "pattern", value: matching, types: textual},
	{keyword: "format", value: formatPhrase, types: textual},
	{keyword: "contentEncoding", before: "a ", value: textOf, after: " string", types: textual},
	{keyword: "minItems", before: "at least ", value: items, twin: "maxItems", types: listed},
	{keyword: "maxItems", before: "at most ", value: items, twin: "minItems", types: listed},
	{keyword: "uniqueItems", before: "items that all differ"},
	{keyword: "contains", before: "an item as the schema's contains describes it"},
	{keyword: "minContains", before: "at least ", value: items, after: " as described", twin: "maxContains"},
	{keyword: "maxContains", before: "at most ", value: items, after: " as described", twin: "minContains"},
	{keyword: "minProperties", before: "at least ", value: members, twin: "maxProperties"},
	{keyword: "maxProperties", before: "at most ", value: members, twin: "minProperties"},
	{keyword: "unevaluatedProperties", before: fault.NoMember("")},
	{keyword: "unevaluatedItems", before: "no item here"},
	{keyword: "items", before: "no item here"},
	{keyword: "additionalItems", value: tupleSize, of: "items"},
	{keyword: "false", before: nothingHere},
	{keyword: "$ref", before: "a schema that does not refer to itself"},
}

// phrase says what the rule of a schema node expects; empty where there is nothing better to say than the
// rule's name.
func phrase(rule string, node map[string]any) string {
	for n := range phrases {
		if p := &phrases[n]; p.keyword == rule {
			return clip(p.say(node))
		}
	}
	return ""
}

func (p *phraseRow) say(node map[string]any) string {
	if p.value == nil {
		return p.before
	}
	v, before := node[cmp.Or(p.of, p.keyword)], p.before
	if v == true && p.marks != "" {
		v = node[p.marks]
	}
	if _, said := node[cmp.Or(p.of, p.keyword)]; !said && p.of == "" {
		return ""
	}
	if twin, ok := node[p.twin]; ok && literal(twin) == literal(v) {
		before = "exactly "
	}
	return before + p.value(v) + p.after
}

var characters, items, members = counts("character"), counts("item"), counts("member")

func counts(noun string) func(v any) string { return func(v any) string { return count(v, noun) } }

func formatPhrase(v any) string {
	return cmp.Or(rowOf("@"+textOf(v)).words, "a string in the format "+textOf(v))
}

func matching(v any) string { return patternPhrase(textOf(v)) }

// notAllowed says that no other members are allowed than those of some names, and those whose names match a
// pattern.
func notAllowed(names []string, say func(string) string, patterns any) string {
	all, _ := patterns.(map[string]any)
	var allowed []string
	if len(names) > 0 {
		allowed = append(allowed, bounded(names, say))
	}
	if len(all) > 0 {
		allowed = append(allowed, "names matching "+bounded(canon.Keys(all), visible))
	}
	return clip(fault.NoMember(strings.Join(allowed, ", ")))
}

// plainName is a name that cannot be mistaken for a part of a sentence.
var plainName = regexp.MustCompile(`^[\pL\pN_$@./~-]+$`)

// nameOf returns the name of a member: as it is, or in quotation marks as JSON writes it.
func nameOf(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return literal(name)
}

const nothingHere = "nothing here"

func oneOf(v any) string {
	values, _ := v.([]any)
	switch len(values) {
	case 0:
		return nothingHere
	case 1:
		return bounded(values, literal)
	}
	return fault.OneOf(bounded(values, literal))
}

// bounded lists the first of many, and says how many more there are.
func bounded[T any](all []T, say func(T) string) string {
	var list []string
	used := 0
	for n, one := range all {
		said := say(one)
		used += len(said) + 2
		if n == maxListed || used > maxPhrase-40 {
			return strings.Join(list, ", ") + " and " + strconv.Itoa(len(all)-n) + " more"
		}
		list = append(list, said)
	}
	return strings.Join(list, ", ")
}

// orList joins texts; what would make a phrase too long is left out.
func orList(texts []string) string {
	const others = " or others"
	used := len(others)
	for n, text := range texts {
		if used += len(text) + 2; used > maxPhrase && n > 0 {
			return strings.Join(texts[:n], ", ") + others
		}
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

func count(v any, noun string) string {
	n := literal(v)
	if n == "1" {
		return "1 " + noun
	}
	return n + " " + noun + "s"
}

func stringsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, item := range v {
			list = append(list, textOf(item))
		}
		return list
	}
	return nil
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

func literal(v any) string { return canon.Cut(jsonText(v), maxLiteral) }

func clip(s string) string { return canon.Cut(s, maxPhrase) }

// marshalPlain writes a value as JSON with sorted members and nothing escaped that need not be.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// jsonText is marshalPlain for a value that was decoded from JSON.
func jsonText(v any) string {
	text, _ := marshalPlain(v)
	return string(text)
}

const anythingBut = "anything but "

// notThat says what the values of a node are not to be.
func notThat(node map[string]any) string {
	not, _ := node["not"].(map[string]any)
	if c, ok := not["const"]; ok {
		return anythingBut + literal(c)
	}
	if values, ok := not["enum"].([]any); ok {
		return anythingBut + bounded(values, literal)
	}
	if p, ok := not["pattern"].(string); ok {
		return "a string not matching " + visible(p)
	}
	if types := stringsOf(not["type"]); len(types) > 0 && len(not) == 1 {
		return anythingBut + orList(types)
	}
	if names := demandedAlone(not); len(names) == 1 {
		return "no member " + nameOf(names[0])
	} else if len(names) > 1 {
		return "not all of the members " + bounded(names, nameOf) + " at once"
	}
	if said := constraints(not); len(said) == 1 {
		return anythingBut + said[0]
	}
	return "a value unlike the one the schema excludes"
}

// constraints says each keyword of a node that asks for nothing but plain constraints.
func constraints(node map[string]any) (all []string) {
	for _, keyword := range canon.Keys(node) {
		isPlain := func(p phraseRow) bool { return p.keyword == keyword && p.value != nil && p.of == "" }
		if !slices.ContainsFunc(phrases[:], isPlain) {
			return nil
		}
		all = appendNew(all, phrase(keyword, node))
	}
	return all
}

// demandedAlone returns the members a node requires that asks for nothing else of an object.
func demandedAlone(node map[string]any) []string {
	for keyword := range node {
		if !slices.Contains([]string{"required", "type", "title", "description"}, keyword) {
			return nil
		}
	}
	return stringsOf(node["required"])
}

// tupleSize returns the number of items that are described one by one.
func tupleSize(v any) string {
	first, ok := v.([]any)
	if !ok {
		return "no item here"
	}
	return "at most " + count(len(first), "item")
}

// countOfFitting returns how many items are to fit.
func countOfFitting(rule string, node map[string]any) string {
	if rule == "contains" {
		return "at least 1 item"
	}
	return strings.TrimSuffix(phrase(rule, node), " as described")
}
