package feedback

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
)

// MaxMessage bounds [RetryFeedback.Message], in bytes.
const MaxMessage = 1024

// message is one line from class and issues: "nights: expected integer, got string; room: required".
func message(class fault.Class, detail string, issues []fault.Issue) string {
	var room [256]byte
	b := room[:0]
	if detail != "" {
		b = appendQuoted(b, classWords(class), maxName)
		b = append(append(b, ": "...), detail...)
	}
	told := 0
	for n := range issues {
		i := &issues[n]
		if detail != "" && restates(i, class) || n > 0 && differBySentAlone(&issues[n-1], i) {
			continue
		}
		mark := len(b)
		if mark > 0 {
			b = append(b, "; "...)
		}
		b = appendIssue(b, i)
		if told++; told > 1 && len(b) > MaxMessage-len("; and 9223372036854775807 more") {
			b = strconv.AppendInt(append(b[:mark], "; and "...), int64(len(issues)-n), 10)
			b = append(b, " more"...)
			break
		}
	}
	if len(b) == 0 {
		return Quote(classWords(class))
	}
	return cut(string(b), MaxMessage)
}

// differBySentAlone reports whether two issues are the same but for the value that a model is told.
func differBySentAlone(a, b *fault.Issue) bool {
	same := *a
	same.Sent = b.Sent
	return same == *b
}

// classWords is a class as people write it: "tool validation".
func classWords(class fault.Class) string {
	return cmp.Or(wordOf(string(class)).words, strings.ReplaceAll(string(class), "_", " "))
}

// appendIssue is [fault.Issue.String] neutralised. An issue of the reply as a whole names no place.
func appendIssue(b []byte, i *fault.Issue) []byte {
	if i.Pointer != "" || i.Source != fault.FromReply {
		b = appendPlace(b, i)
		b = append(b, ": "...)
	}
	return appendFault(b, i, i.Value)
}

// appendPlace quotes a place that could be mistaken for a sentence.
func appendPlace(b []byte, i *fault.Issue) []byte {
	if i.Pointer == "" {
		return append(b, "(whole)"...)
	}
	return appendName(b, i.Place())
}

// ruleWord says a rule plainly where its name alone would not. Where the words are enough, what is expected
// would only say it again.
type ruleWord struct {
	rule, words string
	enough      bool
}

var ruleWords = [...]ruleWord{
	{"required", "required", false},
	{fault.RuleSyntax, "cannot be read", false},
	{fault.RuleDuplicateKey, "the same member twice", true},
	{fault.RuleInvalidUTF8, "not valid UTF-8", true},
	{fault.RuleTrailingData, "something follows the one JSON value that was expected", true},
	{fault.RuleDepth, "nested too deeply", false},
	{fault.RuleSize, "too large", false},
	{fault.RuleWork, "too much work to check", false},
	{fault.RuleUnknownTool, "no such tool", false},
	{fault.RuleNoOutput, "neither text nor a tool call", false},
	{fault.RuleTooManyCalls, "too many calls", false},
	{fault.RuleTruncated, "cut off by the token limit", false},
	{fault.RuleRefusal, "declined", false},
	{fault.RuleRepaired, "not strict JSON", false},
	{fault.RuleReducer, "the state refused it", false},
}

// noWord is said of a rule whose name says enough.
var noWord ruleWord

func wordOf(rule string) *ruleWord {
	for n := range ruleWords {
		if ruleWords[n].rule == rule {
			return &ruleWords[n]
		}
	}
	return &noWord
}

// appendFault says what is wrong at an issue's place: "expected integer, got string". received is what is
// shown of the value; of none, its kind.
func appendFault(b []byte, i *fault.Issue, received string) []byte {
	if allowed, ok := strings.CutPrefix(i.Expected, noMember); ok && (allowed == "" || strings.HasPrefix(allowed, listed)) {
		return appendMembers(b, allowed)
	}
	rule := wordOf(i.Rule)
	words := rule.words
	if words == "" && i.Expected == "" {
		words = cmp.Or(strings.ReplaceAll(i.Rule, "_", " "), "not accepted")
	}
	if words != "" {
		b = appendQuoted(b, words, maxName)
	}
	if i.Expected != "" && !rule.enough {
		if words != "" {
			b = append(b, ", "...)
		}
		b = append(b, "expected "...)
		b = appendQuoted(b, i.Wanted(), maxExpected)
	}
	if received = cmp.Or(received, string(i.Got)); received == "" {
		return b
	}
	return appendQuoted(append(b, ", got "...), received, maxName)
}

// noMember begins what is expected in the place of a member that is not allowed: "no member of this name
// (allowed: city, nights)".
const (
	noMember = "no member of this name"
	listed   = " (allowed: "
)

// appendMembers says that a member is not allowed, and which are. Its value does not matter then.
func appendMembers(b []byte, allowed string) []byte {
	b = append(b, "not allowed"...)
	if allowed == "" {
		return b
	}
	names := strings.TrimSuffix(strings.TrimPrefix(allowed, listed), ")")
	if strings.Contains(names, ",") {
		return appendQuoted(append(b, "; the members are: "...), names, maxExpected)
	}
	return appendQuoted(append(b, "; the only member is: "...), names, maxExpected)
}
