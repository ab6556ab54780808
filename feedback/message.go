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
	line, told := make([]byte, 0, MaxMessage), 0
	if detail != "" {
		line = append(append(quote(line, classWords(class), maxName), ": "...), detail...)
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
		line = wrong(line, i, i.Value)
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

// differBySentAlone reports whether two issues differ only in Sent, which only the model sees.
func differBySentAlone(a, b fault.Issue) bool {
	a.Sent = b.Sent
	return a == b
}

// classWords returns a class in words: "tool validation".
func classWords(class fault.Class) string {
	return cmp.Or(ruleWords[string(class)], strings.ReplaceAll(string(class), "_", " "))
}

// place returns where an issue is, quoted if it could be mistaken for a sentence. Names with a "~" or "/",
// which JSON Pointers escape, are as they are written in JSON.
func place(i fault.Issue) string {
	switch {
	case i.Pointer == "":
		return i.Place()
	case !strings.Contains(i.Pointer, "~"):
		return Name(i.Place())
	}
	var names []string
	for name := range jsontext.Pointer(i.Pointer).Tokens() {
		if strings.Contains(name, "/") {
			names = append(names, inMarks(name, maxName))
		} else {
			names = append(names, Name(name))
		}
	}
	return Cut(strings.Join(names, "/"), 2*maxName)
}

// required are the words for a member that is missing.
const required = "required"

// ruleWords has words for rules whose names do not explain themselves.
var ruleWords = map[string]string{
	"required":             required,
	"dependentRequired":    required,
	"dependencies":         required,
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
	fault.RuleEqualCall:    "equals an earlier call",
	"no_progress":          "no progress",
}

// wordsEnough are the rules whose words already say what is expected.
var wordsEnough = []string{fault.RuleDuplicateKey, fault.RuleInvalidUTF8, fault.RuleTrailingData}

// wrong appends what is wrong: "expected integer, got string". received is the value to show; if it is empty,
// the kind of the value is shown.
func wrong(b []byte, i fault.Issue, received string) []byte {
	if i.Source == fault.FromTool {
		return toolSays(b, i, received)
	}
	if names, ok := i.Allowed(); ok {
		return notAllowed(b, names)
	}
	start, words := len(b), ruleWords[i.Rule]
	if i.Expected == "" {
		words = cmp.Or(words, strings.ReplaceAll(i.Rule, "_", " "), "not accepted")
	}
	b = quote(b, words, maxName)
	if i.Expected != "" && !slices.Contains(wordsEnough, i.Rule) {
		b = quote(next(b, start, "expected "), i.Wanted(), maxExpected)
	}
	if received = cmp.Or(received, string(i.Got)); received != "" {
		b = quote(next(b, start, "got "), received, maxName)
	}
	return b
}

// next appends the beginning of a part, after a comma if there is a part since start.
func next(b []byte, start int, beginning string) []byte {
	if len(b) > start {
		b = append(b, ", "...)
	}
	return append(b, beginning...)
}

// toolSays is [wrong] for an issue that a tool reported. Its words stand in quotation marks, so that they
// cannot be mistaken for the text around them.
func toolSays(b []byte, i fault.Issue, received string) []byte {
	start := len(b)
	b = append(b, ruleWords[i.Rule]...)
	if i.Expected != "" {
		b = append(next(b, start, "expected "), InMarks(i.Wanted(), maxExpected)...)
	} else if len(b) == start {
		b = append(b, Name(cmp.Or(strings.ReplaceAll(i.Rule, "_", " "), "not accepted"))...)
	}
	switch received = cmp.Or(received, string(i.Got)); {
	case received == "":
	case jsontext.Value(received).IsValid():
		b = quote(next(b, start, "got "), received, maxName)
	default:
		b = append(next(b, start, "got "), Name(received)...)
	}
	return b
}

// quoted is a name in quotation marks.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// notAllowed appends the text for a member that is not allowed, with the members that are.
func notAllowed(b []byte, names string) []byte {
	switch b = append(b, "not allowed"...); {
	case names == "":
		return b
	case strings.Contains(quoted.ReplaceAllString(names, ""), ","):
		b = append(b, "; the members are: "...)
	default:
		b = append(b, "; the only member is: "...)
	}
	return quote(b, names, maxExpected)
}
