package schema_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

// goldenIssues has chosen bad documents with their issues: each shows words that no one before it shows. `go
// test ./schema -run Golden -args -rewrite` rewrites it. Read each changed line as a model would. The issues
// of all bad documents are written to a file with RETAKE_ISSUES=FILE, to be compared before and after a
// change that is to change no words.
const goldenIssues = "testdata/issues.txt"

// seeds are schemas, each with a document that it refuses or nearly refuses.
var seeds = [][2]string{
	{`{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"minimum":0.1},"b":{"items":{"$ref":"#"}}}}`, `{"a":0.1,"b":[{"a":1}]}`},
	{`{"anyOf":[{"type":"object","required":["x"]},{"type":"null"}]}`, `{"y":[]}`},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","definitions":{"a":{"enum":["a",1,null]}}}`, `1.0`},
	{`{"propertyNames":{"pattern":"^[a-z]+$"},"minProperties":1,"additionalProperties":{"type":"integer"}}`, `{"a":1e2,"B":2}`},
	{`{"properties":{"a":{"x-echo":true,"items":{"type":"integer"}}},"required":["b"],"propertyNames":{"maxLength":1}}`, `{"a":["é",{}],"cc":1}`},
	{`{"uniqueItems":true,"items":{"maxLength":2}}`, `["a","\u0061","😀"]`},
	{`{"if":{"type":"array"},"then":{"maxItems":1},"else":{"not":{"const":true}}}`, "[1,\t-0]"},
	{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`},
	{`{"items":{"multipleOf":0.1,"minimum":-1e3}}`, `[0.3,1e-1,-0,12345678901234567890.1,0.35,-2.05]`},
	{`{"items":{"multipleOf":3},"maxItems":9}`, `[9,-3,0,-0.0,4,3e2,999999999999999999999]`},
	{`{"oneOf":[{"exclusiveMaximum":9007199254740993},{"type":"integer"}]}`, `9007199254740992.5`},
	{`{"prefixItems":[{"type":"string"},{"required":["a"]}],"items":false,"contains":{"const":1},"minContains":2,"maxContains":3}`, `["a",{},1,1.0]`},
	{`{"contains":{"items":{"$ref":"#"}},"anyOf":[{"maxItems":2},{"prefixItems":[false]}]}`, `[[[]],[1],{},[[[[]]]]]`},
	{`{"patternProperties":{"^a":{"type":"integer"},"b$":{"minLength":2}},"additionalProperties":false}`, `{"a":1,"\u0061c":"x","cb":"","d":1,"ab":1}`},
	{`{"dependentRequired":{"a":["b","c"],"c":["a"]},"required":["d"],"patternProperties":{"c":{"type":"null"}}}`, `{"a":1,"c":2}`},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"},{"minimum":2}],"additionalItems":false}`, `["a",1,{}]`},
	{`{"$schema":"https://json-schema.org/draft/2019-09/schema","items":[true],"additionalItems":{"items":[{}]},"unevaluatedItems":false}`, `[1,[2,3]]`},
	{`{"allOf":[{"properties":{"a":{"type":"integer"}}},{"patternProperties":{"^b":true}}],"unevaluatedProperties":false}`, `{"a":1,"bc":2,"d":3}`},
	{`{"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":{}}}],"unevaluatedProperties":{"type":"null"}}`, `{"a":1,"b":2,"c":null}`},
	{`{"if":{"properties":{"k":{"const":1}}},"then":{"properties":{"a":{}}},"else":{"properties":{"b":{}}},"unevaluatedProperties":false}`, `{"k":1,"a":1,"b":2}`},
	{`{"oneOf":[{"prefixItems":[{"const":1}]},{"prefixItems":[{},{}]}],"contains":{"const":3},"unevaluatedItems":false}`, `[2,3,3,4]`},
	{`{"dependentSchemas":{"a":{"required":["b"],"properties":{"b":{}}}},"unevaluatedProperties":false,"properties":{"a":{}}}`, `{"a":1,"c":1}`},
	{`{"dependencies":{"a":["b"],"c":{"minProperties":3}},"properties":{"ab":{"type":"string"}},"patternProperties":{"^a":{"minLength":2}}}`, `{"a":1,"c":1,"ab":"x"}`},
	{`{"const":"a","enum":["a","b"],"$defs":{"x":{"enum":[0.5,9223372036854775808]}}}`, `"b"`},
	{`{"items":{"enum":[0.5,9223372036854775808,1]}}`, `[5e-1,9223372036854775808.0,1.0,2.5,1]`},
	{`{"$schema":"http://json-schema.org/draft-07/schema#","contains":{"type":"string"},"items":{"maxLength":1}}`, `["ab",1]`},
}

func TestGoldenIssues(t *testing.T) {
	g := golden{shown: map[string]bool{}}
	for _, seed := range seeds {
		g.record(compile(t, seed[0]).Check, seed[0], mutations(t, seed[1], 40))
	}
	g.generators(t)
	for _, b := range bridgedTypes {
		g.record(b.decode, b.name, mutations(t, b.good, 150))
	}
	typed, err := schema.For[order]()
	require.NoError(t, err)
	g.record(typed.Schema().Check, "order", mutations(t, string(orderDocument(t)), 100))
	g.record(mixedTypes[0].decode, "mixed", mutations(t, mixedDocument, 100))
	g.suite(t)
	g.compare(t)
}

// generators records the issues of documents for schemas that generators write.
func (g *golden) generators(t *testing.T) {
	datadriven.Walk(t, generators, func(t *testing.T, path string) {
		var check func([]byte) []fault.Issue
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "compile" {
				s, err := schema.Compile([]byte(d.Input))
				if check = nil; err == nil {
					check = s.Check
				}
			} else if json.Valid([]byte(d.Input)) {
				g.record(check, d.Pos, mutations(t, d.Input, 12))
			}
			return d.Expected
		})
	})
}

// suite records the issues of the documents of the official test suite.
func (g *golden) suite(t *testing.T) {
	for _, c := range suite(t) {
		draft, _, _ := strings.Cut(c.name, "/")
		s, err := schema.Compile(c.Schema)
		if err != nil || !slices.Contains([]string{"draft4", "draft7", "draft2020-12"}, draft) {
			continue
		}
		var docs []string
		for _, test := range c.Tests {
			docs = append(docs, string(test.Data))
		}
		g.record(s.Check, c.name, docs)
	}
}

// golden is documents and their issues: all, and the chosen ones.
type golden struct {
	all, chosen strings.Builder
	named       string // the name that the last chosen document is under
	shown       map[string]bool
}

// record notes the documents that a check refuses.
func (g *golden) record(check func([]byte) []fault.Issue, name string, docs []string) {
	for _, doc := range docs {
		issues := check([]byte(doc))
		if len(issues) == 0 {
			continue
		}
		short := doc
		if len(short) > 80 {
			short = short[:80] + "…"
		}
		text := strings.Join(strings.Fields(short), " ") + "\n" + linesOf(issues)
		fmt.Fprintf(&g.all, "== %s\n%s", name, text)
		if !g.shows(issues) {
			continue
		}
		if g.named != name {
			g.named = name
			fmt.Fprintf(&g.chosen, "== %s\n", name)
		}
		g.chosen.WriteString(text)
	}
}

// linesOf are the first issues, one on each line.
func linesOf(issues []fault.Issue) string {
	var b strings.Builder
	for n, i := range issues {
		if n == 20 {
			fmt.Fprintf(&b, "\t%d more\n", len(issues)-n)
			break
		}
		source, leave := "", ""
		if i.Source != fault.FromSchema {
			source = " " + string(i.Source)
		}
		if i.Optional {
			leave = ", or leave it out"
		}
		fmt.Fprintf(&b, "\t%s %s%s, got %s%s: %s%s\n", i.Pointer, i.Rule, source, i.Got, i.Value, i.Expected, leave)
	}
	return b.String()
}

// details are what words say of one schema alone: texts in quotation marks, names, numbers, patterns.
var details = regexp.MustCompile(`matching .*|\([^)]*\)|("[^"]*"(, | or | and )?)+|-?[0-9.]+`)

// shows reports whether issues show words that none before has shown.
func (g *golden) shows(issues []fault.Issue) (new bool) {
	for _, i := range issues[:min(len(issues), 20)] {
		words := strings.Fields(details.ReplaceAllString(i.Expected, "…"))
		key := i.Rule + " " + strings.Join(words[:min(len(words), 6)], " ")
		new = new || !g.shown[key]
		g.shown[key] = true
	}
	return new
}

func (g *golden) compare(t *testing.T) {
	if path := os.Getenv("RETAKE_ISSUES"); path != "" {
		require.NoError(t, os.WriteFile(path, []byte(g.all.String()), 0o644))
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		require.NoError(t, os.WriteFile(goldenIssues, []byte(g.chosen.String()), 0o644))
		return
	}
	want, err := os.ReadFile(goldenIssues)
	require.NoError(t, err)
	old, now := strings.Split(string(want), "\n"), strings.Split(g.chosen.String(), "\n")
	for n := range min(len(old), len(now)) {
		if old[n] != now[n] {
			t.Fatalf("%s:%d is\n%s\nand was\n%s\nwrite it anew with -args -rewrite, and read what has changed", goldenIssues, n+1, now[n], old[n])
		}
	}
	require.Len(t, now, len(old))
}

// mutations are a document and copies of it with one change each: at most so many, spread evenly over all
// possible changes.
func mutations(t testing.TB, doc string, limit int) []string {
	var root any
	dec := json.NewDecoder(strings.NewReader(doc))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&root))
	all := []string{}
	mutateEach(root, func(v any) {
		root = v
		text, err := json.Marshal(root)
		require.NoError(t, err)
		all = append(all, string(text))
	})
	spread := []string{doc}
	for n := range min(limit, len(all)) {
		spread = append(spread, all[n*len(all)/min(limit, len(all))])
	}
	return slices.Compact(spread)
}

// mutateEach replaces each value of a tree by other values, one at a time, and puts the old one back.
func mutateEach(v any, put func(any)) {
	defer put(v)
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			was := v[name]
			delete(v, name)
			put(v)
			v[name+"x"] = was
			put(v)
			delete(v, name+"x")
			mutateEach(was, func(to any) { v[name] = to; put(v) })
		}
	case []any:
		for n := range v {
			mutateEach(v[n], func(to any) { v[n] = to; put(v) })
		}
		put(append(slices.Clone(v), v...))
	case string:
		put(v + v + "?")
	case json.Number:
		digits := strings.TrimPrefix(string(v), "-")
		put(json.Number("-" + digits))
		put(json.Number("99999" + digits))
	}
	for _, other := range []string{`null`, `"x"`, `""`, `7`, `0.5`, `true`, `[]`, `[{}]`, `{}`, `{"a":[1]}`} {
		put(json.RawMessage(other))
	}
}

// mixedDocument is a good document for [mixed].
const (
	mixedDocument = `{` + mixedMembers + `"self":` + mixedLeaf + `,"kids":[` + mixedLeaf + `]}`
	mixedLeaf     = `{` + mixedMembers + `"self":null,"kids":[]}`
	mixedMembers  = `"id":"a","tag":"","text":"a@b.co","word":"ab","small":3,"long":7,"real":0.5,"short":0.1,"flag":null,"deep":1,"list":[["a"],[]],
	"set":["a","b"],"texts":{"a":"b"},"reals":{"x":1.5,"y":null},"any":[{"a":1}],"bytes":"YQ==","pair":[1,2],"named":{"n":{"name":"x","kind":""}},"before":1,`
)
