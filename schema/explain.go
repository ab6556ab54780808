package schema

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-playground/validator/v10"

	"github.com/retake-go/retake/fault"
)

// explain is the slow path: it reads the document again to find every issue. It is also the judge of documents the fast path
// leaves to it, so a good one may come out of it.
func (t *goType) explain(doc []byte, lim Limits, v any) []fault.Issue {
	tree, issue := read(doc, lim)
	if issue != nil {
		return []fault.Issue{*issue}
	}
	found := t.schema.checkValue(tree, doc)
	if err := decodeLoosely(doc, v); err != nil {
		if len(found) == 0 {
			found = []fault.Issue{t.schema.decodeIssue(tree, err)}
		}
		return t.schema.finish(tree, found)
	}
	found = append(found, t.ruleIssues(tree, v, found)...)
	if len(found) == 0 && t.issues != nil {
		found = fromRules(t.issues(v))
	}
	if len(found) == 0 {
		return nil
	}
	return t.schema.finish(tree, found)
}

// decodeLoosely decodes as the fast path does, and where that fails tries once more with whole numbers such as 2.0 written as
// integers: JSON Schema takes them for what they are, Go's decoder does not. Whatever v held is gone.
func decodeLoosely(doc []byte, v any) error {
	to := reflect.ValueOf(v).Elem()
	to.SetZero()
	err := json.Unmarshal(doc, v, decodeOptions)
	if err == nil {
		return nil
	}
	plain, changed := plainIntegers(doc)
	if !changed {
		return err
	}
	to.SetZero()
	return json.Unmarshal(plain, v, decodeOptions)
}

// plainIntegers rewrites the numbers of a strict document that are whole but not written as integers; -0 is 0.
func plainIntegers(doc []byte) (out []byte, changed bool) {
	for i := 0; i < len(doc); i++ {
		end := i + 1
		switch c := doc[i]; {
		case c == '"':
			end = skipString(doc, i) + 1
		case c == '-' || (c >= '0' && c <= '9'):
			end = skipNumber(doc, i)
			if text := string(doc[i:end]); text == "-0" || !isPlainInteger(doc[i:end]) {
				if whole, ok := plainInteger(text); ok {
					out, changed = append(out, whole...), true
					i = end - 1
					continue
				}
			}
		}
		out = append(out, doc[i:end]...)
		i = end - 1
	}
	return out, changed
}

// decodeIssue says where the decoder gave up on a document that the schema accepts: a type with a decoder of its own.
func (s *Schema) decodeIssue(tree any, err error) fault.Issue {
	pointer, expected := "", "a value the type can be read from"
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &semantic):
		pointer = string(semantic.JSONPointer)
		if semantic.GoType != nil {
			expected = decoderPhrase(semantic.GoType)
		}
	case errors.As(err, &syntactic):
		pointer = string(syntactic.JSONPointer)
	}
	return s.ruleIssue(tree, pointer, "format", clip(expected))
}

func (s *Schema) ruleIssue(tree any, pointer, rule, expected string) fault.Issue {
	i := fault.Issue{Pointer: pointer, Rule: rule, Expected: expected, Source: fault.FromRules}
	if v, ok := lookup(tree, pathOf(pointer)); ok {
		i.Got = kindOf(v)
	}
	return i
}

func fromRules(issues []fault.Issue) []fault.Issue {
	var all []fault.Issue
	for _, i := range issues {
		i.Source = fault.FromRules
		all = append(all, i)
	}
	return all
}

// ruleIssues asks the validator, and keeps what the schema has not said already at the same place or above it.
func (t *goType) ruleIssues(tree, v any, found []fault.Issue) []fault.Issue {
	err := t.rules(v)
	if err == nil {
		return nil
	}
	var failures validator.ValidationErrors
	if !errors.As(err, &failures) {
		if len(found) > 0 {
			return nil
		}
		return []fault.Issue{t.schema.ruleIssue(tree, "", "type", "object")}
	}
	places := placesOf(reflect.ValueOf(v).Elem())
	var issues []fault.Issue
	for _, f := range failures {
		for _, at := range places.of(f) {
			if !covered(found, at.pointer) {
				issues = append(issues, t.schema.ruleIssue(tree, at.pointer, at.ruleName(f), at.phrase(f)))
			}
		}
	}
	return issues
}

// covered reports whether the schema has reported the place, or that what holds it is missing or of another kind.
func covered(found []fault.Issue, pointer string) bool {
	for _, i := range found {
		if i.Pointer == pointer {
			return true
		}
		whole := i.Rule == "required" || i.Rule == "type" || i.Rule == "minProperties"
		if whole && strings.HasPrefix(pointer, i.Pointer+"/") {
			return true
		}
	}
	return false
}
