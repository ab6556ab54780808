package kit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Treatment is what becomes of a keyword of a schema in the schema that is sent.
type Treatment string

// The treatments.
const (
	// Keep leaves a keyword as it is, and Drop leaves it out.
	Keep Treatment = "keep"
	Drop Treatment = "drop"
	// Say moves it into the description: the API does not know it, but a model can read it.
	Say Treatment = "say"
	// Nest converts the schemas in it. NestAs… also gives it the name of another keyword.
	Nest        Treatment = "nest"
	NestAsAnyOf Treatment = "anyOf"
	NestAsDefs  Treatment = "$defs"
	// AsEnum makes a constant an enum of one value.
	AsEnum Treatment = "enum"
	// Check asks [Downgrade].Check, for keywords of which an API accepts only some values.
	Check Treatment = "check"
	// Plain keeps a pattern that all servers read, and says another. OpenAI reads patterns as Python does,
	// and llama.cpp reads none with escapes or without ^ and $ around it. They refuse requests with others.
	Plain Treatment = "plain"
	// Open is for schemas that are no objects: they become {}, which accepts anything. OpenInWords also has
	// all schemas within that are {} say so in a description, and so the items beside prefixItems, which
	// llama.cpp reads alone: {} is an object to it.
	Open        Treatment = "open"
	OpenInWords Treatment = "open in words"
	// Refuse means that nothing can stand for it: the schema cannot be sent.
	Refuse Treatment = "refuse"
)

// Dialect is the part of JSON Schema that an API accepts: the treatment of each keyword. [Others] is that of
// all keywords without one, and [NoObject] that of schemas that are true, false or no schema. It must not be
// changed while it is used.
type Dialect map[string]Treatment

// The rows of a dialect that are no keywords.
const (
	Others   = ""
	NoObject = "{}"
	// Extensions are the keywords that begin with "x-" and have no row.
	Extensions = "x-"
)

// OpenAI returns the dialect of tools and answers without strict mode, as of all servers that speak OpenAI's
// API.
func OpenAI() Dialect { return column(0) }

// Strict returns the dialect of strict mode as all servers with one know it.
func Strict() Dialect { return column(1) }

// StrictBounds returns the dialect of OpenAI's own strict mode, which knows bounds of numbers and lists.
func StrictBounds() Dialect { return column(2) }

// Anthropic returns the dialect of answers at Anthropic.
func Anthropic() Dialect { return column(3) }

// Gemini returns the dialect of Gemini.
func Gemini() Dialect { return column(4) }

// OllamaTools returns the dialect of tools at Ollama.
func OllamaTools() Dialect { return column(5) }

// OllamaGrammar returns the dialect of answers at Ollama.
func OllamaGrammar() Dialect { return column(6) }

// treatments has a row for keywords that are treated alike, with spaces between them, and a column for each
// dialect: OpenAI, Strict, StrictBounds, Anthropic, Gemini, OllamaTools, OllamaGrammar.
var treatments = func() map[string][7]Treatment {
	const (
		k, d, s, n, x    = Keep, Drop, Say, Nest, Refuse
		a, f, e, c, o, p = NestAsAnyOf, NestAsDefs, AsEnum, Check, Open, Plain
		w                = OpenInWords
	)
	all := byWord(map[string][7]Treatment{
		NoObject:   {w, x, x, x, o, o, w},
		Extensions: {k, x, x, d, d, k, k},

		"type required title description": {k, k, k, k, k, k, k},

		"enum":  {k, k, k, c, c, k, k},
		"const": {k, k, k, c, e, e, k},

		"default examples":                 {k, s, s, d, d, k, k},
		"deprecated readOnly writeOnly":    {k, x, x, d, d, k, k},
		"contentEncoding contentMediaType": {k, x, x, s, d, k, k},

		"propertyOrdering": {k, x, x, x, k, k, k},
		"$comment x-echo":  {d, x, x, d, d, k, k},
		"$schema":          {d, x, x, d, d, d, k},
		"$id":              {k, x, x, d, k, d, k},
		"$anchor":          {k, x, x, x, k, k, k},

		"minimum maximum maxItems":                     {k, s, k, s, k, k, k},
		"exclusiveMinimum exclusiveMaximum multipleOf": {k, s, k, s, s, k, k},
		"minLength maxLength uniqueItems":              {k, s, s, s, s, k, k},
		"minProperties maxProperties":                  {k, x, x, s, s, k, k},

		"pattern":  {p, s, c, s, s, k, p},
		"format":   {k, s, c, c, k, k, k},
		"minItems": {k, s, k, c, k, k, k},

		"$ref":                   {k, k, k, k, c, s, k},
		"$defs":                  {n, n, n, n, n, d, n},
		"definitions":            {n, n, n, n, f, d, n},
		"properties items anyOf": {n, n, n, n, n, n, n},
		"additionalProperties":   {n, k, k, c, n, k, n},
		"prefixItems":            {n, x, x, x, n, k, n},
		"oneOf":                  {n, x, x, a, n, a, n},
		"allOf":                  {n, x, x, n, c, k, n},

		"additionalItems contains dependentSchemas if then else not patternProperties propertyNames " +
			"unevaluatedItems unevaluatedProperties": {n, x, x, x, s, k, n},
		"dependencies dependentRequired minContains maxContains": {k, x, x, x, s, k, k},
	})
	all[Others] = [7]Treatment{k, x, x, x, d, k, k}
	return all
}()

func column(of int) Dialect {
	dialect := make(Dialect, len(treatments))
	for keyword, row := range treatments {
		dialect[keyword] = row[of]
	}
	return dialect
}

// The keywords whose value is a list of schemas, or an object of schemas. The value of any other that nests
// is one schema.
var (
	listOfSchemas  = map[string]bool{"anyOf": true, "allOf": true, "oneOf": true, "prefixItems": true}
	schemasByNames = map[string]bool{"properties": true, "patternProperties": true, "$defs": true,
		"definitions": true, "dependentSchemas": true}
)

// closes are the keywords in which true and false say what no other schema can.
var closes = map[string]bool{"additionalProperties": true, "unevaluatedProperties": true, "unevaluatedItems": true}

// deepest bounds the nesting of schemas that are converted.
const deepest = 100

// Downgrade converts a schema to a dialect: what is not in the dialect goes into the descriptions, or is left
// out. retake checks arguments and answers against the whole schema anyway.
type Downgrade struct {
	To Dialect
	// Check returns the treatment of one keyword, for those that the dialect leaves to it, and may change its
	// value. It is required if there are any.
	Check func(keyword *Member) Treatment
	// Each is called for every schema, and returns what is sent for it: convert converts its keywords, and
	// the schemas within. nil only converts.
	Each func(schema Object, convert func(Object) Object) Object
}

// Schema returns the converted schema; false if it cannot be sent.
func (d Downgrade) Schema(doc json.RawMessage) (json.RawMessage, bool) {
	w := walk{Downgrade: d}
	out := w.schema(doc)
	return out, !w.refused
}

// walk is the conversion of one document.
type walk struct {
	Downgrade
	depth   int
	refused bool
}

func (w *walk) schema(doc json.RawMessage) json.RawMessage {
	schema, ok := ReadObject(doc)
	ok = ok || w.opens()
	if !ok || w.depth > deepest {
		return w.noObject(doc)
	}
	w.depth++
	defer func() { w.depth-- }()
	if w.Each == nil {
		return w.convert(schema).JSON()
	}
	return w.Each(schema, w.convert).JSON()
}

// noObject converts what stands where a schema should be an object.
func (w *walk) noObject(doc json.RawMessage) json.RawMessage {
	if w.To[NoObject] == Refuse {
		w.refused = true
	}
	if w.opens() {
		return json.RawMessage("{}")
	}
	return doc
}

func (w *walk) opens() bool { return w.To[NoObject] == Open || w.To[NoObject] == OpenInWords }

// anything is a schema for any value.
var anything = Object{TextField("description", "Any value.")}

// inWords has a converted schema say that anything goes.
func (w *walk) inWords(o Object) Object {
	switch {
	case w.To[NoObject] != OpenInWords:
	case len(o) == 0 && w.depth > 1:
		return anything
	case o.Get("prefixItems") != nil && o.Get("items") != nil:
		return o.With("items", anything.JSON())
	}
	return o
}

// current says what drafts before 2020-12 say in other words as that draft does, the only one that APIs read.
func current(o Object) Object {
	if Items(o.Get("items")) != nil {
		rest := o.Get("additionalItems")
		o = slices.Clone(o.Without("additionalItems"))
		o[slices.IndexFunc(o, func(m Member) bool { return m.Name == "items" })].Name = "prefixItems"
		if rest != nil {
			o = append(o, Field("items", rest))
		}
	}
	for _, bound := range [...]string{"minimum", "maximum"} {
		exclusive := "exclusiveM" + bound[1:]
		switch limit := o.Get(bound); string(o.Get(exclusive)) {
		case "true":
			if o = o.Without(bound, exclusive); limit != nil {
				o = append(o, Field(exclusive, limit))
			}
		case "false":
			o = o.Without(exclusive)
		}
	}
	return o
}

// isPlain reports whether all servers read a pattern.
func isPlain(pattern string) bool {
	return strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$") &&
		!strings.Contains(pattern, `\`) && !strings.Contains(pattern, "(?")
}

// convert converts the keywords of one schema.
func (w *walk) convert(from Object) Object {
	out, said := Object{}, []string{}
	for _, m := range current(from) {
		as := m
		switch w.keyword(&as) {
		case Say:
			said = append(said, as.Name+" "+compact(as.Value))
		case Keep:
			switch isTaken := out.Get(as.Name) != nil; { // two keywords may become one
			case !isTaken:
				out = append(out, as)
			case m.Name != as.Name && !schemasByNames[m.Name]:
				said = append(said, m.Name+" "+compact(m.Value))
			}
		}
	}
	if len(said) > 0 {
		rules := strings.TrimLeft(out.Text("description")+" ("+strings.Join(said, ", ")+")", " ")
		out = out.With("description", Quote(rules))
	}
	return w.inWords(out)
}

// keyword converts the value of a keyword and returns whether it is kept, said or dropped.
func (w *walk) keyword(m *Member) Treatment {
	t := w.treatment(m.Name)
	if t == AsEnum {
		*m = Field("enum", List(m.Value))
		t = w.treatment(m.Name)
	}
	if t == Check {
		t = w.Check(m)
	}
	switch t {
	case Plain:
		if isPlain(Text(m.Value)) {
			return Keep
		}
		return Say
	case Refuse:
		w.refused = true
	case NestAsAnyOf, NestAsDefs:
		m.Name = string(t)
		return w.nest(m)
	case Nest:
		return w.nest(m)
	}
	return t
}

func (w *walk) treatment(keyword string) Treatment {
	if t, known := w.To[keyword]; known {
		return t
	}
	if t, known := w.To[Extensions]; known && strings.HasPrefix(keyword, Extensions) {
		return t
	}
	return w.To[Others]
}

// nest converts the schemas within a keyword.
func (w *walk) nest(m *Member) Treatment {
	value, isObject := ReadObject(m.Value)
	list := Items(m.Value)
	switch {
	case schemasByNames[m.Name] && isObject:
		for n := range value {
			value[n].Value = w.schema(value[n].Value)
		}
		m.Value = value.JSON()
	case listOfSchemas[m.Name] && len(list) > 0:
		for n := range list {
			list[n] = w.schema(list[n])
		}
		m.Value = List(list...)
	case schemasByNames[m.Name], listOfSchemas[m.Name]: // it is not what it should be
		w.noObject(m.Value)
		if w.opens() {
			return Drop
		}
	case isObject, !closes[m.Name]:
		m.Value = w.schema(m.Value)
	}
	return Keep
}

// compact returns a JSON value without white space.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// Accepts reports whether a schema names a type, alone or in a list.
func Accepts(schema Object, kind string) bool {
	t := schema.Get("type")
	for _, item := range append(Items(t), t) {
		if Text(item) == kind {
			return true
		}
	}
	return false
}
