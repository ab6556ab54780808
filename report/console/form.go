package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/masked"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/schema"
)

// form has the arguments of a call as fields: those of the schema, and what is there besides.
type form struct {
	Fields []*field
	// Faults are what is wrong with the arguments as a whole.
	Faults []string
	judge  *schema.Schema
	before map[string]any
	scrubber
}

// field is one value of the arguments.
type field struct {
	// Name is that of the input: "a" and the place of the value. Label is the place for people.
	Name, Label string
	// Kind is text, number, choice, radios, json or hidden.
	Kind    string
	Value   string
	Options []option
	Hint    string
	// Was is what the model asked for, Before what it asked for the time before if that differs, and Fault
	// what is wrong.
	Was, Before, Fault string
	Needed             bool
	path               []string
	was                any
	there              bool
	// lost reports that the journal has a mark in the place of the value, or of a part of it.
	lost bool
}

// option is a value to choose, as JSON; empty for none.
type option string

// Label returns the option for people.
func (o option) Label() string {
	var text string
	if json.Unmarshal([]byte(o), &text) == nil && text != "" {
		return text
	}
	return string(o)
}

// Rows returns the height of a field.
func (f *field) Rows() int { return min(20, 1+strings.Count(f.Value, "\n")+len(f.Value)/60) }

// named returns a value of the field with its name, as JSON.
func (f *field) named(value any) string {
	return jsonText(map[string]any{f.path[len(f.path)-1]: value})
}

// Size says how much text there is in a field, if that is much.
func (f *field) Size() string {
	lines, n := 1+strings.Count(f.Value, "\n"), utf8.RuneCountInString(f.Value)
	if lines < 5 && n < 300 {
		return ""
	}
	return several.Of(lines, "line") + ", " + several.Grouped(n) + " characters"
}

// describes is what a form reads of a schema.
type describes struct {
	Type        any                  `json:"type"`
	Description string               `json:"description"`
	Properties  map[string]describes `json:"properties"`
	Required    []string             `json:"required"`
	Enum        []any                `json:"enum"`
	Secret      bool                 `json:"x-secret"`
}

// maxDeep is the depth from which on objects are fields of JSON.
const maxDeep = 3

// formOf makes the form of arguments.
func formOf(doc, arguments json.RawMessage, by scrubber) *form {
	f := &form{scrubber: by}
	var d describes
	if len(doc) > 0 && json.Unmarshal(doc, &d) == nil {
		f.judge, _ = schema.Compile(doc)
	}
	if !decoded(arguments, &f.before) || f.before == nil {
		f.before = map[string]any{}
	}
	f.object(d, f.before, nil)
	shown := f.veiled(arguments)
	for n, one := range f.Fields {
		of, name := holder(shown, one.path)
		hasSecret := jsonText(of[name]) != jsonText(one.was)
		if one.lost = strings.Contains(jsonText(one.was), `"`+leftOut); one.lost || hasSecret || f.hides(one.Value) ||
			f.hides(one.named(one.was)) {
			one.hide()
		}
		if f.hides(one.Name) || f.hides(one.Label) { // no place has "~n" in it
			one.Name, one.Label = fmt.Sprintf("a/~n%d", n), f.scrub(one.Label)
		}
	}
	return f
}

// leftOut begins the marks that a redacted journal has in the place of values.
const leftOut = "[redacted "

// Hidden returns how many values are not shown.
func (f *form) Hidden() (n int) {
	for _, one := range f.Fields {
		if one.Kind == "hidden" {
			n++
		}
	}
	return n
}

// veiled returns arguments without what the schema marks as secret, anywhere in them.
func (f *form) veiled(arguments json.RawMessage) (doc map[string]any) {
	if f.judge != nil && !f.showSecrets {
		arguments = masked.JSON(arguments, f.judge.Secrets())
	}
	decoded(arguments, &doc)
	return doc
}

// compare says at the fields what differs from the arguments of an earlier call.
func (f *form) compare(arguments json.RawMessage) {
	before := f.veiled(arguments)
	if before == nil {
		return
	}
	for _, one := range f.Fields {
		of, name := holder(before, one.path)
		was, there := of[name]
		text := "missing"
		if there {
			text = brief(escaped(jsonText(was)))
		}
		same := there == one.there && (!there || jsonText(was) == jsonText(one.was))
		if !same && one.Kind != "hidden" && !f.hides(one.named(was)) {
			one.Before = text
		}
	}
}

// decoded reads JSON with its numbers as they are written, and reports whether it is any.
func decoded(text []byte, into any) bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return dec.Decode(into) == nil
}

// holder returns the object in which the value at a place of another one is, nil where there is none, and the
// name that the value has there.
func holder(doc map[string]any, path []string) (of map[string]any, name string) {
	last := len(path) - 1
	for _, name := range path[:last] {
		doc, _ = doc[name].(map[string]any)
	}
	return doc, path[last]
}

// put puts a value at a place of an object, and makes the objects on the way.
func put(doc map[string]any, path []string, value any) {
	last := len(path) - 1
	for _, name := range path[:last] {
		inner, is := doc[name].(map[string]any)
		if !is {
			inner = map[string]any{}
			doc[name] = inner
		}
		doc = inner
	}
	doc[path[last]] = value
}

// object adds the fields of an object: those of the schema, then what is there besides.
func (f *form) object(d describes, value map[string]any, at []string) {
	names := slices.Sorted(maps.Keys(d.Properties))
	slices.SortStableFunc(names, func(a, b string) int {
		return rank(d.Required, a) - rank(d.Required, b)
	})
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if _, known := d.Properties[name]; !known {
			names = append(names, name)
		}
	}
	for _, name := range names {
		sub, path := d.Properties[name], append(slices.Clone(at), name)
		is, there := value[name]
		if inner, isObject := is.(map[string]any); len(sub.Properties) > 0 && len(path) < maxDeep &&
			(isObject || !there) && !sub.Secret {
			f.object(sub, inner, path)
			continue
		}
		one := &field{
			Name: "a" + canon.Pointer(path...), Label: visible(strings.Join(path, ".")), Hint: sub.Description,
			Needed: slices.Contains(d.Required, name),
			path:   path, was: is, there: there, Kind: kindOf(sub, is),
		}
		one.fill(sub, is)
		if sub.Secret && !f.showSecrets {
			one.hide()
		}
		f.Fields = append(f.Fields, one)
	}
}

// rank puts what is required first, in its order.
func rank(required []string, name string) int {
	if n := slices.Index(required, name); n >= 0 {
		return n
	}
	return len(required)
}

// kindOf returns the kind of the field of a value.
func kindOf(d describes, value any) string {
	_, isText := value.(string)
	_, isNumber := value.(json.Number)
	_, isBool := value.(bool)
	switch {
	case len(d.Enum) > 0:
		return "choice"
	case d.Type == "boolean" && (isBool || value == nil):
		return "radios"
	case d.Type == "string" && (isText || value == nil), d.Type == nil && isText:
		return "text"
	case (d.Type == "integer" || d.Type == "number") && (isNumber || value == nil):
		return "number"
	}
	return "json"
}

// fill sets the value of a field, and its options.
func (f *field) fill(d describes, value any) {
	if f.there {
		f.Value = valueText(f.Kind, value)
	}
	if f.Kind == "text" && (visible(f.Value) != f.Value || d.Type == nil && json.Valid([]byte(f.Value))) {
		f.Kind, f.Value = "json", jsonText(value)
	}
	if f.Kind != "text" {
		f.Value = escaped(f.Value)
	}
	f.Was = f.Value
	switch f.Kind {
	case "choice":
		for _, one := range d.Enum {
			f.Options = append(f.Options, option(escaped(jsonText(one))))
		}
		f.offer(f.Value == "" || !f.Needed)
	case "radios":
		f.Options = []option{"true", "false"}
		f.offer(!f.Needed)
	}
}

// offer adds the value that is there to the options, and none, if that can be chosen.
func (f *field) offer(none bool) {
	if f.Value != "" && !slices.Contains(f.Options, option(f.Value)) {
		f.Options = append([]option{option(f.Value)}, f.Options...)
	}
	switch {
	case none && f.Kind == "radios":
		f.Options = append(f.Options, "")
	case none:
		f.Options = append([]option{""}, f.Options...)
	}
}

// hide leaves out the value of a field. Empty, it stays as it is.
func (f *field) hide() { f.Kind, f.Value, f.Was, f.Options = "hidden", "", "", nil }

func valueText(kind string, value any) string {
	if text, is := value.(string); is && kind == "text" {
		return text
	}
	return jsonText(value)
}

func jsonText(value any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // it was read
	return strings.TrimSuffix(b.String(), "\n")
}

// escaped writes the characters of a JSON text that cannot be seen as JSON does.
func escaped(text string) string {
	var b strings.Builder
	for at, r := range text {
		if canon.Seen(text[:at], r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// take puts what a person entered into the fields, and returns the arguments and whether they were changed.
// What is wrong stands at the fields then, and ok is false.
func (f *form) take(in url.Values) (arguments json.RawMessage, changed, ok bool) {
	ok, f.Faults = true, nil
	was, doc := jsonText(f.before), map[string]any{}
	decoded([]byte(was), &doc)
	for _, one := range f.Fields {
		if one.Fault = ""; !in.Has(one.Name) {
			continue
		}
		one.Value = strings.ReplaceAll(in.Get(one.Name), "\r\n", "\n")
		switch value, set, why := one.read(); {
		case why != "":
			one.Fault, ok = why, false
		case set:
			put(doc, one.path, value)
		default:
			of, name := holder(doc, one.path)
			delete(of, name)
		}
	}
	if !ok {
		return nil, true, false
	}
	text := jsonText(doc)
	if changed = text != was; changed && f.lacks() {
		return nil, true, false
	}
	return json.RawMessage(text), changed, f.judged(json.RawMessage(text))
}

// lacks reports whether values that the journal does not have would be sent as marks. What is wrong stands at
// the fields.
func (f *form) lacks() (any bool) {
	for _, one := range f.Fields {
		if one.lost && one.Value == one.Was {
			one.Fault, any = "the journal does not have it: give it anew, or change nothing", true
		}
	}
	return any
}

// read returns the value of a field as it was entered. set is false if there is none.
func (f *field) read() (value any, set bool, why string) {
	switch {
	case f.Kind == "hidden" && f.Value == "", f.Value == f.Was:
		return f.was, f.there, ""
	case f.Value == "" && (f.Kind != "text" || !f.there):
		return nil, false, ""
	case f.Kind == "text":
		return f.Value, true, ""
	}
	text := f.Value
	if _, wasText := f.was.(string); f.Kind == "hidden" && wasText {
		return text, true, ""
	}
	if !decoded([]byte(text), &value) || !jsontext.Value(text).IsValid() {
		why = "this is not JSON"
		if f.Kind == "number" {
			why = "this is not a number, such as 12 or 0.5"
		}
	}
	return value, true, why
}

// judged reports whether arguments fit the schema. What does not stands at the fields.
func (f *form) judged(doc json.RawMessage) bool {
	if f.judge == nil {
		return true
	}
	issues := fault.SortIssues(f.judge.Check(doc))
	f.mark(issues)
	return len(issues) == 0
}

// mark puts what is wrong at the fields.
func (f *form) mark(issues []fault.Issue) {
	for _, issue := range issues {
		text := "expected " + issue.Wanted()
		if issue.Expected == "" {
			text = issue.Says()
		}
		f.at(issue.Pointer, visible(f.scrub(text)))
	}
}

// at puts a fault at the field of a place, or of what it is in.
func (f *form) at(place, text string) {
	for _, one := range f.Fields {
		if mine := canon.Pointer(one.path...); place == mine || strings.HasPrefix(place, mine+"/") {
			one.Fault = joined(one.Fault, text)
			return
		}
	}
	if place != "" {
		text = f.scrub(place) + ": " + text
	}
	f.Faults = append(f.Faults, text)
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
