package tool

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/syntax"
)

// repairPhrases say how to write it so that no repair is needed.
var repairPhrases = map[extract.Form]string{
	extract.StringArguments:   "arguments as an object instead of a string",
	extract.NoArguments:       "arguments written out, {} where there are none",
	extract.ExtraMember:       "nothing beside a call's name and arguments",
	extract.PythonSyntax:      "arguments as a JSON object instead of name=value",
	extract.TaggedArguments:   syntax.Tags,
	extract.AssignedArguments: "arguments within the call instead of a variable",
	extract.WrappedArguments:  "arguments without an object around them",
	extract.QuotedObject:      "objects and arrays themselves, not quoted",
	extract.SingleQuotes:      syntax.Quotes,
	extract.Apostrophe:        syntax.Quotes,
	extract.TokenQuotes:       syntax.Quotes,
	extract.TripleQuotes:      syntax.Quotes,
	extract.UnquotedKey:       syntax.Quotes,
	extract.PythonLiteral:     syntax.PythonWords,
	extract.PythonNumber:      syntax.Numbers,
	extract.PythonEscape:      syntax.Escapes,
	extract.Tuple:             syntax.Lists,
	extract.TrailingComma:     syntax.LastComma,
	extract.Comment:           syntax.Comments,
	extract.RawControl:        "line breaks and control characters within strings written as escapes",
	extract.MarkdownEscape:    `no \ before _ and brackets`,
}

// repairedIssues is one issue that says how to write all that was repaired; none if no repair matters.
func repairedIssues(repairs []extract.Repair) []fault.Issue {
	var wants []string
	for _, kind := range changing(repairs) {
		want, ok := repairPhrases[kind]
		if !ok {
			want = "no " + strings.ReplaceAll(string(kind), "_", " ")
		}
		if !strings.Contains(strings.Join(wants, "; "), want) {
			wants = append(wants, want)
		}
	}
	if wants == nil {
		return nil
	}
	return []fault.Issue{{Rule: fault.RuleRepaired, Expected: strings.Join(wants, "; "),
		Source: fault.FromJSON}}
}

// brokenPhrases say what would be right where a text cannot be read. A slip of syntax is named by its place.
var brokenPhrases = map[string]string{
	fault.RuleDuplicateKey: "each member name once",
	fault.RuleInvalidUTF8:  "text in UTF-8",
	fault.RuleDepth: "at most " + strconv.Itoa(extract.DefaultOptions().MaxDepth) +
		" levels of nesting",
	fault.RuleSize:         "at most " + strconv.Itoa(extract.DefaultOptions().MaxBytes) + " bytes",
	fault.RuleWork:         "at most " + strconv.Itoa(extract.DefaultOptions().MaxValues) + " values",
	fault.RuleTrailingData: "one JSON value and nothing after it",
}

// brokenIssues says why a text cannot be read. whole is what is wanted if no mistake of syntax explains it.
func brokenIssues(text string, b *extract.Broken, whole string) []fault.Issue {
	issue := fault.Issue{Rule: fault.RuleSyntax, Expected: whole, Source: fault.FromJSON}
	if b != nil {
		issue.Rule = b.Rule
		issue.Expected = cmp.Or(brokenPhrases[b.Rule], syntax.Wanted(text, b.Offset), whole)
	}
	return []fault.Issue{issue}
}
