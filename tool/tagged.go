package tool

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// typed gives arguments from tags, which are all strings, the types of the schema. An argument becomes the
// value that its text writes if the schema refuses a string there, or accepts the value. All others stay
// strings.
func (in *reader) typed(t *Tool, c *extract.Call) (args []byte, repairs []extract.Repair) {
	isTagged := func(r extract.Repair) bool { return r.Kind == extract.TaggedArguments }
	at := slices.IndexFunc(c.Repairs, isTagged)
	var all members
	if at < 0 || canon.Unmarshal(c.Arguments, &all) != nil {
		return c.Arguments, c.Repairs
	}
	asText := t.schema.Read(in.work, string(c.Arguments)).Issues
	values, took := maps.Clone(all), map[string][]extract.Repair{}
	for _, name := range canon.Keys(all) {
		if ruleAt(asText, name) != "" {
			in.work.Read(len(all[name]))
			values[name], took[name] = literal(all[name], in.settings.options())
		}
	}
	asValues := t.schema.Read(in.work, string(values.json())).Issues
	repairs = c.Repairs
	for _, name := range canon.Keys(took) {
		if ruleAt(asText, name) != "type" && ruleAt(asValues, name) != "" {
			values[name] = all[name]
			continue
		}
		for _, r := range took[name] {
			repairs = insert(repairs, extract.Repair{Kind: r.Kind, Offset: c.Repairs[at].Offset})
		}
	}
	return values.json(), repairs
}

// ruleAt returns the rule by which an argument itself is refused; empty where it is not.
func ruleAt(issues []fault.Issue, name string) string {
	place := string(jsontext.Pointer("").AppendToken(name))
	at := slices.IndexFunc(issues, func(i fault.Issue) bool { return i.Pointer == place })
	if at < 0 {
		return ""
	}
	return issues[at].Rule
}

// literal returns the value that the text of a JSON string writes, if there is nothing around it; else the
// string.
func literal(quoted []byte, opt extract.Options) (value []byte, repairs []extract.Repair) {
	var text string
	if canon.Unmarshal(quoted, &text) != nil {
		return quoted, nil
	}
	value, repairs, _ = extract.Value(text, opt)
	beside := func(r extract.Repair) bool { return r.Kind.Around() }
	if value == nil || slices.ContainsFunc(repairs, beside) {
		return quoted, nil
	}
	return value, repairs
}

// insert returns a list of repairs with one more, unless it is among them. They are sorted by offset and
// kind.
func insert(repairs []extract.Repair, own extract.Repair) []extract.Repair {
	at, known := slices.BinarySearchFunc(repairs, own, func(a, b extract.Repair) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Kind, b.Kind))
	})
	if known {
		return repairs
	}
	return slices.Insert(slices.Clone(repairs), at, own)
}
