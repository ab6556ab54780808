package fault

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// Kind is the kind of a JSON value, as an [Issue] reports what was received. The zero value means "not
// there".
type Kind string

// The kinds of JSON values, named as JSON Schema names its types.
const (
	Null    Kind = "null"
	Boolean Kind = "boolean"
	Integer Kind = "integer"
	Number  Kind = "number"
	String  Kind = "string"
	Array   Kind = "array"
	Object  Kind = "object"
)

// Source names the layer that found an [Issue].
type Source string

// The layers that find issues.
const (
	// FromJSON: the text is not strict JSON, or exceeds a bound.
	FromJSON Source = "json"
	// FromSchema: the JSON Schema refuses the value.
	FromSchema Source = "schema"
	// FromRules: the validation rules of a Go type refuse the value.
	FromRules Source = "rules"
	// FromTool: the tool itself asked for another try.
	FromTool Source = "tool"
	// FromReply: the reply as a whole is at fault (an unknown tool, no output, a reducer's refusal).
	FromReply Source = "reply"
)

// The rules that are not keywords of JSON Schema. A rule of a schema or of a Go type is named by its JSON
// Schema keyword ("type", "required", "enum", "additionalProperties", "minimum", …); a rule JSON Schema has
// no word for keeps its validation tag ("eqfield").
const (
	RuleSyntax       = "syntax"
	RuleDuplicateKey = "duplicate_key"
	RuleInvalidUTF8  = "invalid_utf8"
	RuleTrailingData = "trailing_data"
	RuleDepth        = "depth"
	RuleSize         = "size"
	RuleWork         = "work"
	RuleUnknownTool  = "unknown_tool"
	RuleNoOutput     = "no_output"
	RuleNoCall       = "no_call"
	RuleTooManyCalls = "too_many_calls"
	RuleTruncated    = "truncated"
	RuleRefusal      = "refusal"
	RuleRepaired     = "repaired"
	RuleReducer      = "reducer"
	RuleMaxSuccesses = "max_successes"
	RuleEqualCall    = "equal_call"
	RuleToolChoice   = "tool_choice"
)

// Issue is one thing wrong with one place of a proposal. It is comparable, and safe to show to a model: it
// has the kind of the received value, the value of a number or boolean that a rule refused, and other values
// only if their field is marked as safe to echo.
type Issue struct {
	// Pointer is the RFC 6901 JSON Pointer of the place: of the member itself also when it is missing or not
	// allowed. Empty means the whole document.
	Pointer string `json:"pointer" redact:"issue"`
	// Rule is the stable name of the rule that was broken.
	Rule string `json:"rule" redact:"keep"`
	// Expected says what would be right, as a phrase that reads after "expected": "integer", `one of
	// "single", "double"`.
	Expected string `json:"expected" redact:"issue"`
	// Got is the kind of the received value; empty if there was none.
	Got Kind `json:"got"`
	// Value is the received value as JSON, only if its field is marked as safe to echo.
	Value string `json:"value,omitempty" redact:"sent"`
	// Sent is the received number or boolean as JSON, if its kind is right and a rule refuses it. It has at
	// most [MaxSent] bytes, and fields that are secret or not to be echoed have none. It is for the model
	// alone: String, and so errors and logs, has only the kind.
	Sent string `json:"sent,omitempty" redact:"sent"`
	// Source is the layer that found the issue.
	Source Source `json:"source"`
	// Optional reports that the member may be left out. It does not depend on the received value.
	Optional bool `json:"optional,omitzero"`
}

// MaxSent is the most bytes of [Issue.Sent]. Of a longer number only the kind is given.
const MaxSent = 20

// Wanted is Expected for a reader. It says that a member may be left out only if null was received: a wrong
// value is to be corrected.
func (i Issue) Wanted() string {
	if i.Optional && i.Got == Null {
		return i.Expected + ", or leave it out"
	}
	return i.Expected
}

// noMember is expected where a member is not allowed.
const noMember = "no member of this name"

// NoMember returns the Expected of a member that is not allowed. allowed lists the names that are; it may be
// empty.
func NoMember(allowed string) string {
	if allowed == "" {
		return noMember
	}
	return noMember + " (allowed: " + allowed + ")"
}

// Allowed returns the list that Expected was made of by [NoMember]; false if it was not.
func (i Issue) Allowed() (names string, ok bool) {
	rest, ok := strings.CutPrefix(i.Expected, noMember+" (allowed: ")
	if ok {
		return strings.TrimSuffix(rest, ")"), true
	}
	return "", i.Expected == noMember
}

const (
	oneOf  = "one of "
	noneOf = "no call, for no tools are offered"
)

// OneOf returns the Expected of a name that is not known. names lists those that are; it is empty for a tool
// where there are none.
func OneOf(names string) string {
	if names == "" {
		return noneOf
	}
	return oneOf + names
}

// Known returns the list that Expected was made of by [OneOf]; all of Expected if it was not.
func (i Issue) Known() string {
	if i.Expected == noneOf {
		return ""
	}
	return strings.TrimPrefix(i.Expected, oneOf)
}

// ID returns a short stable name of the issue: the same place and the same rule have the same id in every run
// and version. The received value is no part of it, so that an issue keeps its id with another wrong value;
// nor is Optional.
func (i Issue) ID() string {
	sum := sha256.Sum256([]byte(i.Pointer + "\x00" + i.Rule + "\x00" + i.Expected))
	return hex.EncodeToString(sum[:6])
}

// String returns the issue as one line for people: "nights: expected integer, got string".
func (i Issue) String() string { return i.Place() + ": " + i.Says() }

// Says returns the issue without its place: "expected integer, got string".
func (i Issue) Says() string {
	wants := "expected " + i.Wanted()
	switch {
	case i.Rule == "required" && i.Got == "" && i.Expected == "":
		return "required"
	case i.Rule == "required" && i.Got == "":
		return "required, " + wants
	case i.Expected == "":
		wants = strings.ReplaceAll(i.Rule, "_", " ")
	}
	if got := cmp.Or(i.Value, string(i.Got)); got != "" {
		return wants + ", got " + got
	}
	return wants
}

// Place returns the issue's pointer as people write it: "nights", "guests/0/name"; "(whole)" for the whole
// document.
func (i Issue) Place() string {
	if i.Pointer == "" {
		return "(whole)"
	}
	return strings.TrimPrefix(i.Pointer, "/")
}

// SortIssues returns the issues in canonical order (pointer, rule, expected, got, value, sent, source), each
// once. The argument does not change, and is returned if it is in that order.
func SortIssues(issues []Issue) []Issue {
	inOrder := true
	for n := 1; n < len(issues) && inOrder; n++ {
		inOrder = compareIssues(issues[n-1], issues[n]) < 0
	}
	if inOrder {
		return slices.Clip(issues)
	}
	sorted := slices.Clone(issues)
	slices.SortFunc(sorted, compareIssues)
	return slices.Compact(sorted)
}

// PrintableIssues returns the issues with U+FFFD in the place of bytes that are no UTF-8, for which JSON has
// no form. The argument does not change, and is returned if all of it can be printed. The result is nil if
// there are none.
func PrintableIssues(issues []Issue) []Issue {
	isOdd := func(i Issue) bool { return i.printable() != i }
	switch {
	case len(issues) == 0:
		return nil
	case slices.ContainsFunc(issues, isOdd):
		issues = slices.Clone(issues)
		for n, i := range issues {
			issues[n] = i.printable()
		}
	}
	return issues
}

func (i Issue) printable() Issue {
	return Issue{
		Pointer: canon.UTF8(i.Pointer), Rule: canon.UTF8(i.Rule), Expected: canon.UTF8(i.Expected),
		Got: canon.UTF8(i.Got), Value: canon.UTF8(i.Value), Sent: canon.UTF8(i.Sent),
		Source: canon.UTF8(i.Source), Optional: i.Optional,
	}
}

func compareIssues(a, b Issue) int {
	if c := cmp.Compare(a.Pointer, b.Pointer); c != 0 { // most differ there
		return c
	}
	return cmp.Or(
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Expected, b.Expected),
		cmp.Compare(a.Got, b.Got),
		cmp.Compare(a.Value, b.Value),
		cmp.Compare(a.Sent, b.Sent),
		cmp.Compare(a.Source, b.Source),
	)
}
