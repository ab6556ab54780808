package feedback

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
)

// MaxMessage is the longest [RetryFeedback.Message], in bytes.
const MaxMessage = 1024

// message returns one line for a class and its issues: "nights: expected integer, got string; room:
// required".
func message(class fault.Class, detail string, issues []fault.Issue) string {
	line, told := make([]byte, 0, MaxMessage/4), 0
	if detail != "" {
		line = append(append(append(line, QuoteWithin(classWords(class), maxName)...), ": "...), detail...)
	}
	for n, i := range issues {
		if detail != "" && restates(i, class) || n > 0 && differBySentAlone(issues[n-1], i) {
			continue
		}
		shorter := len(line)
		if shorter > 0 {
			line = append(line, "; "...)
		}
		if i.Pointer != "" || i.Source != fault.FromReply { // the reply as a whole has no place
			line = append(append(line, place(i)...), ": "...)
		}
		line = append(line, wrong(i, i.Value)...)
		if told++; told > 1 && len(line) > MaxMessage-len("; and 9223372036854775807 more") {
			line = fmt.Appendf(line[:shorter], "; and %d more", len(issues)-n)
			break
		}
	}
	if len(line) == 0 {
		return Cut(Quote(classWords(class)), MaxMessage)
	}
	return Cut(string(line), MaxMessage)
}

// differBySentAlone reports whether two issues differ only in the value that only the model sees.
func differBySentAlone(a, b fault.Issue) bool {
	a.Sent = b.Sent
	return a == b
}

// classWords returns a class in words: "tool validation".
func classWords(class fault.Class) string {
	return cmp.Or(ruleWords[string(class)], strings.ReplaceAll(string(class), "_", " "))
}

// place returns where an issue is, quoted if it could be mistaken for a sentence.
func place(i fault.Issue) string {
	if i.Pointer == "" {
		return i.Place()
	}
	return Name(i.Place())
}

// ruleWords has words for rules whose names do not explain themselves.
var ruleWords = map[string]string{
	"required":             "required",
	fault.RuleSyntax:       "cannot be read",
	fault.RuleDuplicateKey: "the same member twice",
	fault.RuleInvalidUTF8:  "not valid UTF-8",
	fault.RuleTrailingData: "something follows the one JSON value that was expected",
	fault.RuleDepth:        "nested too deeply",
	fault.RuleSize:         "too large",
	fault.RuleWork:         "too much work to check",
	fault.RuleUnknownTool:  "no such tool",
	fault.RuleNoOutput:     "neither text nor a tool call",
	fault.RuleTooManyCalls: "too many calls",
	fault.RuleTruncated:    "cut off by the token limit",
	fault.RuleRefusal:      "declined",
	fault.RuleRepaired:     "not strict JSON",
	fault.RuleReducer:      "the state refused it",
	fault.RuleMaxSuccesses: "succeeded as often as it may",
	fault.RuleEqualCall:    "equals an earlier call",
	"no_progress":          "no progress",
}

// wordsEnough are the rules whose words already say what is expected.
var wordsEnough = []string{fault.RuleDuplicateKey, fault.RuleInvalidUTF8, fault.RuleTrailingData}

// wrong returns what is wrong: "expected integer, got string". received is the value to show; if it is empty,
// the kind of the value is shown.
func wrong(i fault.Issue, received string) string {
	if i.Source == fault.FromTool {
		return toolSays(i, received)
	}
	if names, ok := i.Allowed(); ok {
		return notAllowed(names)
	}
	words := ruleWords[i.Rule]
	if i.Expected == "" {
		words = cmp.Or(words, strings.ReplaceAll(i.Rule, "_", " "), "not accepted")
	}
	said := QuoteWithin(words, maxName)
	expected, wanted, got := "", "", ""
	if i.Expected != "" && !slices.Contains(wordsEnough, i.Rule) {
		expected, wanted = ", expected ", QuoteWithin(i.Wanted(), maxExpected)
	}
	if received = cmp.Or(received, string(i.Got)); received != "" {
		got, received = ", got ", QuoteWithin(received, maxName)
	}
	return strings.TrimPrefix(said+expected+wanted+got+received, ", ")
}

// toolSays is wrong for an issue in the words of a tool. What they say stands in quotation marks, so that it
// cannot be mistaken for the text around it.
func toolSays(i fault.Issue, received string) string {
	said := ruleWords[i.Rule]
	if i.Expected != "" {
		said += ", expected " + InMarks(i.Wanted(), maxExpected)
	} else if said == "" {
		said = Name(cmp.Or(strings.ReplaceAll(i.Rule, "_", " "), "not accepted"))
	}
	switch received = cmp.Or(received, string(i.Got)); {
	case received == "":
	case jsontext.Value(received).IsValid():
		said += ", got " + QuoteWithin(received, maxName)
	default:
		said += ", got " + Name(received)
	}
	return strings.TrimPrefix(said, ", ")
}

// quoted is a name in quotation marks.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// notAllowed returns the text for a member that is not allowed, with the members that are.
func notAllowed(names string) string {
	switch {
	case names == "":
		return "not allowed"
	case strings.Contains(quoted.ReplaceAllString(names, ""), ","):
		return "not allowed; the members are: " + QuoteWithin(names, maxExpected)
	}
	return "not allowed; the only member is: " + QuoteWithin(names, maxExpected)
}
