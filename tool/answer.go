package tool

import (
	"cmp"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

// Answer is the structured answer of a reply and what is wrong with it.
type Answer struct {
	// Raw is the value as canonical JSON; nil where there is none that can be read.
	Raw []byte
	// Class is [fault.StructuredOutput] where something is wrong, [fault.NoOutput] where there is no text at
	// all, else empty.
	Class fault.Class
	// Issues is everything that is wrong, in canonical order.
	Issues []fault.Issue
	// Repairs is what it took to read the value, under [policy.RepairsNote].
	Repairs []extract.Repair
	// Value is what [schema.Schema.Read] made of it; nil where it made nothing, and with issues.
	Value any
}

// ReadAnswer finds the JSON value in a reply's text and checks it against s, which is required. The caller
// must look at the reply's finish reason first, as with [Set.Read].
func ReadAnswer(text string, s *schema.Schema, set Settings) Answer {
	if strings.TrimSpace(text) == "" {
		none := fault.Issue{Rule: fault.RuleNoOutput, Expected: "an answer", Source: fault.FromReply}
		return Answer{Class: fault.NoOutput, Issues: []fault.Issue{none}}
	}
	work := set.budget()
	work.Read(len(text))
	raw, repairs, broken := extract.Value(text, set.options())
	if raw == nil {
		return Answer{Class: fault.StructuredOutput, Issues: unreadable(text, broken, s)}
	}
	check := func(doc []byte) schema.Reading { return s.Read(work, string(doc)) }
	read := check(raw)
	if len(read.Issues) > 0 && set.unquotes(set.Text) {
		if mended, ok := unquote(raw, read.Issues, check); ok {
			read = mended
			repairs = insert(repairs, extract.Repair{Kind: extract.QuotedObject})
		}
	}
	a := Answer{Raw: read.JSON, Issues: read.Issues, Repairs: kept(set.Text, repairs), Value: read.Value}
	if !allowed(set.Text) {
		a.Issues = fault.SortIssues(append(a.Issues, repairedIssues(repairs)...))
	}
	if len(a.Issues) > 0 {
		a.Class = fault.StructuredOutput
	}
	return a
}

// unreadable says why no value could be read from a text, and what value is wanted.
func unreadable(text string, broken *extract.Broken, s *schema.Schema) []fault.Issue {
	wants := s.Wants()
	issues := brokenIssues(text, broken, cmp.Or(wants, "a JSON value"))
	if wants != "" && broken != nil && broken.Rule == fault.RuleSyntax && issues[0].Expected != wants {
		issues[0].Expected += ": " + wants
	}
	return issues
}
