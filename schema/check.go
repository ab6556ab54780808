package schema

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// Check reports everything that is wrong with doc, in canonical order; nil means it is good. Of more than 1000 issues it reports 1000.
// Text that is not strict JSON gets the one issue that says so. The schema of a Go type checks all that [Typed.Decode] does.
// Safe for concurrent use.
func (s *Schema) Check(doc []byte) []fault.Issue {
	if s.whole != nil {
		return s.whole(doc, s.limits)
	}
	return s.checkDocument(doc)
}

// Read checks a text, and returns its canonical form too: nil where it has none, for then it is not strict JSON, and the issue says
// why. Safe for concurrent use.
func (s *Schema) Read(text string) (form []byte, issues []fault.Issue) {
	if s.whole == nil && s.limits.walks(text) {
		f := canon.FormOf(text)
		issues, sure := s.checkQuickly(text, s.limits, f)
		if form, ok := f.End(); sure && ok {
			return form, issues
		}
	}
	form, _ = canon.Text(text)
	return form, s.Check([]byte(text))
}

// checkDocument checks by the schema alone.
func (s *Schema) checkDocument(doc []byte) []fault.Issue {
	if issues, sure := s.checkQuickly(string(doc), s.limits, nil); sure {
		return issues
	}
	return s.checkSlowly(doc)
}

// checkQuickly checks by the program; false where the library must judge.
func (s *Schema) checkQuickly(text string, lim Limits, form *canon.Form) (issues []fault.Issue, sure bool) {
	if s.program == nil || len(text) > lim.MaxBytes {
		return nil, false
	}
	return s.find(s.program, text, lim, reflect.Value{}, form)
}

// checkSlowly has the library check the whole document.
func (s *Schema) checkSlowly(doc []byte) []fault.Issue {
	v, issue := read(doc, s.limits)
	if issue != nil {
		return []fault.Issue{*issue}
	}
	return s.checkValue(v, doc)
}

// checkValue has the library check a document, unless that would take it too long.
func (s *Schema) checkValue(v any, doc []byte) []fault.Issue {
	if s.forks && s.takesTooLong(v, doc) {
		return []fault.Issue{{Rule: fault.RuleDepth, Expected: tooManyWays, Got: kindOf(v), Source: fault.FromSchema}}
	}
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	var cause *jsonschema.ValidationError
	if !errors.As(err, &cause) {
		return []fault.Issue{{Rule: "schema", Expected: "a value the schema can judge", Source: fault.FromSchema}}
	}
	return s.finish(v, explainer{schema: s, value: v}.flatten(cause))
}

// finish bounds and sorts the issues of a document, and adds echoed values and what may be left out.
func (s *Schema) finish(v any, issues []fault.Issue) []fault.Issue {
	issues = fault.SortIssues(issues)
	issues = issues[:min(len(issues), maxIssues)]
	if s.echo {
		for n := range issues {
			issues[n].Value = s.echoed(nil, v, issues[n].Pointer)
		}
	}
	return s.sorted(issues)
}

// sorted adds to issues what may be left out, and sorts them.
func (s *Schema) sorted(issues []fault.Issue) []fault.Issue {
	s.tellOptional(issues)
	return fault.SortIssues(issues)
}

// explainer turns the library's tree of errors into issues. The tree's order follows Go maps; the issues are sorted after.
type explainer struct {
	schema *Schema
	value  any
}

func (x explainer) flatten(e *jsonschema.ValidationError) []fault.Issue {
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return x.reduce(e, "anyOf")
	case *kind.OneOf:
		if k.Subschemas == nil {
			return x.reduce(e, "oneOf")
		}
	case *kind.Schema, *kind.Group, *kind.Reference:
		return x.flattenAll(x.atFault(e.Causes))
	case *kind.AllOf:
		return x.flattenAll(e.Causes)
	case *kind.Required:
		return x.missing(e, k.Missing, "")
	case *kind.DependentRequired:
		return x.missing(e, k.Missing, k.Prop)
	case *kind.Dependency:
		return x.missing(e, k.Missing, k.Prop)
	case *kind.AdditionalProperties:
		return x.unknown(e, k.Properties)
	case *kind.PropertyNames:
		return x.badName(e, k.Property)
	case *kind.Format:
		if j, ok := x.judge(k.Want); ok {
			return []fault.Issue{x.issue(e.InstanceLocation, j.name(), j.expected())}
		}
	}
	rule, node := ruleOf(e), x.node(e)
	if rule == "not" && refusesAll(node) {
		rule = standsUnder(e)
	}
	return []fault.Issue{x.issue(e.InstanceLocation, rule, x.expected(rule, node, e))}
}

// expected says what would be right by a rule.
func (x explainer) expected(rule string, node map[string]any, e *jsonschema.ValidationError) string {
	switch rule {
	case "type":
		return x.describe(node, maxSteps)
	case "unevaluatedProperties":
		return x.describedMembers(e)
	case "contains", "minContains", "maxContains":
		if fitting := x.describe(node["contains"], maxSteps); fitting != "" {
			return clip(countOfFitting(rule, node) + " like this: " + fitting)
		}
	}
	return phrase(rule, node)
}

func (x explainer) flattenAll(causes []*jsonschema.ValidationError) []fault.Issue {
	if len(causes) == 1 {
		return x.flatten(causes[0])
	}
	var all []fault.Issue
	for _, c := range firstOf(causes) {
		all = append(all, x.flatten(c)...)
	}
	return all
}

// firstOf are the causes at as many places as are told of, where they are at more: to put an error into words takes longer than to find it.
func firstOf(causes []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(causes) <= maxIssues {
		return causes
	}
	at := func(a, b *jsonschema.ValidationError) int {
		return slices.Compare(a.InstanceLocation, b.InstanceLocation)
	}
	causes = slices.Clone(causes)
	slices.SortFunc(causes, at)
	n := maxIssues
	for n < len(causes) && at(causes[n-1], causes[n]) == 0 {
		n++ // in what order those at one place are is left to chance
	}
	return causes[:n]
}

// ruleOf is the keyword that failed; a schema that is just false is named by the keyword it stands under.
func ruleOf(e *jsonschema.ValidationError) string {
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	switch e.ErrorKind.(type) {
	case *kind.Not:
		return "not"
	case *kind.OneOf:
		return "oneOf"
	case *kind.RefCycle:
		return "$ref"
	}
	return standsUnder(e)
}

// standsUnder is the keyword that a schema stands under which refuses everything.
func standsUnder(e *jsonschema.ValidationError) string {
	at := tokensOf(e.SchemaURL)
	for _, keyword := range []string{"unevaluatedProperties", "unevaluatedItems", "items", "additionalItems", "additionalProperties"} {
		if endsIn(at, keyword) {
			return keyword
		}
	}
	return "false"
}

// refusesAll reports whether a schema is false, said in another way.
func refusesAll(node map[string]any) bool {
	not, ok := node["not"].(map[string]any)
	return ok && len(not) == 0 || node["not"] == true
}

func (x explainer) judge(name string) (judge, bool) {
	if x.schema == nil {
		return judge{}, false
	}
	j, ok := x.schema.judges[name]
	return j, ok
}

// node is the schema object that refused, as it stands in the document.
func (x explainer) node(e *jsonschema.ValidationError) map[string]any {
	if x.schema == nil {
		return nodeFromKind(e.ErrorKind)
	}
	node, _ := lookup(x.schema.tree, tokensOf(e.SchemaURL))
	if members, ok := node.(map[string]any); ok {
		return members
	}
	return map[string]any{}
}

// nodeFromKind stands in for the node of a metaschema, which is no part of the document.
func nodeFromKind(k jsonschema.ErrorKind) map[string]any {
	switch k := k.(type) {
	case *kind.Type:
		types := make([]any, len(k.Want))
		for n, t := range k.Want {
			types[n] = t
		}
		return map[string]any{"type": types}
	case *kind.Enum:
		return map[string]any{"enum": k.Want}
	}
	return nil
}

func (x explainer) issue(path []string, rule, expected string) fault.Issue {
	i := fault.Issue{Pointer: pointerOf(path), Rule: rule, Expected: expected, Source: fault.FromSchema}
	if v, ok := lookup(x.value, path); ok && x.schema != nil {
		i.Got = kindOf(v)
	}
	return i
}

// missing reports members that are not there; because names the member that calls for them, if one does.
func (x explainer) missing(e *jsonschema.ValidationError, names []string, because string) []fault.Issue {
	rule := ruleOf(e)
	issues := make([]fault.Issue, 0, len(names))
	for _, name := range names {
		expected := x.describeMember(e, name)
		if because != "" {
			expected = clip(cmp.Or(expected, "a value") + ", for " + because + " is given")
		}
		issues = append(issues, x.issue(append(slices.Clone(e.InstanceLocation), name), rule, expected))
	}
	return issues
}

func (x explainer) unknown(e *jsonschema.ValidationError, names []string) []fault.Issue {
	expected := phrase("additionalProperties", x.node(e))
	issues := make([]fault.Issue, 0, len(names))
	for _, name := range names {
		issues = append(issues, x.issue(append(slices.Clone(e.InstanceLocation), name), "additionalProperties", expected))
	}
	return issues
}

// badName reports a member whose name is not allowed, in the words of what its name should have been.
func (x explainer) badName(e *jsonschema.ValidationError, name string) []fault.Issue {
	at := append(slices.Clone(e.InstanceLocation), name)
	var wants []string
	for _, i := range fault.SortIssues(explainer{schema: x.schema, value: name}.flattenAll(e.Causes)) {
		wants = append(wants, i.Expected)
	}
	i := x.issue(at, "propertyNames", clip("a member name that is "+strings.Join(wants, " and ")))
	i.Got = "" // the value is not at fault
	return []fault.Issue{i}
}
