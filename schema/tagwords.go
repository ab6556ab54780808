package schema

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tagWords are the words of a `jsonschema` tag that have no value.
var tagWords = []string{"required", "optional", "nullable"}

// tagNotes are keywords of a tag that demand nothing of a value.
var tagNotes = []string{"title", "description", "anchor", "type", "oneof_required", "anyof_required",
	"oneof_ref", "anyof_ref", "oneof_type", "anyof_type", "default", "example", "examples", "format", "readOnly",
	"writeOnly", "deprecated", "contentEncoding", "contentMediaType"}

// tagConstraints are the constraints that the schema library reads from a tag, by the type of the value.
var tagConstraints = map[string][]string{
	"string":  {"minLength", "maxLength", "pattern", "format", "enum"},
	"integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum"},
	"number":  {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum"},
	"array":   {"minItems", "maxItems", "uniqueItems"},
}

// keywordName is how the name of a keyword looks. What has spaces is a text.
var keywordName = regexp.MustCompile(`^[a-zA-Z_$]+$`)

// joinedWords are words with "|" between them, as other libraries write an enumeration.
var joinedWords = regexp.MustCompile(`^\w[\w -]*(\|\w[\w -]*)+$`)

// tagSays has what a `jsonschema` tag says: its texts, the type that it gives to a value without one, and
// whether it allows null.
type tagSays struct {
	title, description, typ string
	nullable                bool
}

// readTag reads the texts of a `jsonschema` tag, which the schema library cuts at a comma: a part that is no
// keyword belongs to the text before it, and a tag of plain words is a description. A constraint that the
// library would pass over is an error.
func readTag(tag string, t reflect.Type) (says tagSays, err error) {
	value := stub(t)
	of, items := value.Type, ""
	if value.Items != nil {
		items = value.Items.Type
	}
	text, last, before := &says.description, "", ""
	var enum []string
	for _, part := range tagParts(tag) {
		name, value, hasValue := strings.Cut(part, "=")
		switch {
		case slices.Contains(tagWords, part):
			text, last = &says.description, ""
			says.nullable = says.nullable || part == "nullable"
		case !hasValue || !keywordName.MatchString(name):
			if text == nil {
				return says, strayPart(part, before, last)
			}
			if *text != "" {
				*text += ","
			}
			*text += part
			continue
		case name == "title" || name == "description":
			text, last = &says.title, ""
			if name == "description" {
				text = &says.description
			}
			*text = value
		default:
			if name == "enum" {
				enum = append(enum, value)
			}
			if err := checkKeyword(part, of, items); err != nil {
				return says, err
			}
			if name == "type" && of == "" {
				of, says.typ = value, value
			}
			text, last = nil, name
		}
		before = part
	}
	if len(enum) == 1 && joinedWords.MatchString(enum[0]) {
		return says, fmt.Errorf("jsonschema tag: enum=%s is one value: write enum=%s", enum[0],
			strings.ReplaceAll(enum[0], "|", ",enum="))
	}
	return says, nil
}

// tagParts splits a tag at its commas, but for those with a backslash before them.
func tagParts(tag string) (parts []string) {
	if tag == "" {
		return nil
	}
	isOpen := false
	for part := range strings.SplitSeq(tag, ",") {
		if isOpen {
			last := &parts[len(parts)-1]
			*last = strings.TrimSuffix(*last, `\`) + "," + part
		} else {
			parts = append(parts, part)
		}
		isOpen = strings.HasSuffix(part, `\`)
	}
	return parts
}

func strayPart(part, before, keyword string) error {
	cure := `write a comma in a value as \\, and a text after description=`
	if keyword == "enum" {
		cure = "write " + before + ",enum=" + part
	}
	return fmt.Errorf("jsonschema tag: %q after %s is no keyword: %s", part, before, cure)
}

// checkKeyword refuses a constraint that a value, or the items of an array, cannot have in a tag.
func checkKeyword(part, of, items string) error {
	name, value, _ := strings.Cut(part, "=")
	known, noun := tagConstraints[of], of
	if items != "" {
		noun = "array of " + items + "s"
	}
	if items != of {
		known = slices.Concat(known, tagConstraints[items])
	}
	_, errNumber := strconv.ParseFloat(value, 64)
	_, errCount := strconv.ParseUint(value, 10, 64)
	isCount := strings.HasSuffix(name, "Length") || strings.HasSuffix(name, "Items") && name != "uniqueItems"
	isRead := func(t string) bool { return kindsOf[t]&kindsOf[of] != 0 }
	isText := name == "pattern" || name == "format" || name == "uniqueItems"
	isNumber := of == "integer" || of == "number"
	switch {
	case strings.Contains(value, " description="):
		return fmt.Errorf("jsonschema tag: %q has no comma before description=: write one", part)
	case name == "type" && of == "" && kindsOf[value] == 0:
		return fmt.Errorf("jsonschema tag: %q is no type of JSON", part)
	case name == "type" && of != "" && value != of:
		return fmt.Errorf("jsonschema tag: %q would do nothing, for the value is read from %s: leave it out", part, article(of))
	case strings.HasSuffix(name, "of_type") && of != "" && !slices.ContainsFunc(strings.Split(value, ";"), isRead):
		return fmt.Errorf("jsonschema tag: %q is never so, for the value is read from %s: leave it out", part, article(of))
	case name == "default" && isNumber && errNumber != nil:
		return fmt.Errorf("jsonschema tag: %q needs a number", part)
	case name == "default" && of == "boolean" && value != "true" && value != "false":
		return fmt.Errorf("jsonschema tag: %q needs true or false", part)
	case slices.Contains(tagNotes, name):
		return nil
	case len(known) == 0:
		return fmt.Errorf("jsonschema tag: %q is no keyword of %s: use a validate rule, or a method JSONSchema "+
			"of its type", part, article(noun))
	case !slices.Contains(known, name):
		last := len(known) - 1
		return fmt.Errorf("jsonschema tag: %q is no keyword of %s: those are %s and %s", part, article(noun),
			strings.Join(known[:last], ", "), known[last])
	case name == "uniqueItems" && value != "true":
		return fmt.Errorf("jsonschema tag: %q would be read as true: leave it out", part)
	case isCount && errCount != nil:
		return fmt.Errorf("jsonschema tag: %q needs a whole number from 0", part)
	case !isCount && !isText && of != "string" && items != "string" && errNumber != nil:
		return fmt.Errorf("jsonschema tag: %q needs a number", part)
	}
	return nil
}

// article puts the article before the name of a type. Any value has no name.
func article(noun string) string {
	switch {
	case noun == "":
		return "any value"
	case strings.Contains("aeio", noun[:1]):
		return "an " + noun
	}
	return "a " + noun
}
