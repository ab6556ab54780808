package tool

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/syntax"
)

// repairedIssues returns one issue that says how to write all that was repaired; none if no repair matters.
func repairedIssues(repairs []extract.Repair) []fault.Issue {
	var wants []string
	changing := slices.DeleteFunc(extract.Kinds(repairs), extract.Form.Around)
	slices.Sort(changing)
	for _, kind := range changing {
		want := kind.Wanted()
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

// beyond has what would be right where a text is beyond a bound.
var beyond = map[string]string{
	fault.RuleDepth: "at most " + strconv.Itoa(extract.MaxDepth) +
		" levels of nesting",
	fault.RuleSize: "at most " + strconv.Itoa(extract.MaxBytes) + " bytes",
	fault.RuleWork: "at most " + strconv.Itoa(extract.MaxValues) + " values",
}

// brokenIssues says why a text cannot be read. whole is what is wanted if no mistake of syntax explains it.
func brokenIssues(text string, b *extract.Broken, whole string) []fault.Issue {
	issue := fault.Issue{Rule: fault.RuleSyntax, Expected: whole, Source: fault.FromJSON}
	if b != nil {
		issue.Rule = b.Rule
		issue.Expected = cmp.Or(beyond[b.Rule], syntax.Expected(b.Rule, text, b.Offset), whole)
	}
	return []fault.Issue{issue}
}
