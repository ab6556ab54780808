package fault

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// Kind is the kind of a JSON value, as an [Issue] reports what was received. The zero value means "not there".
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

// The rules that are not keywords of JSON Schema. A rule of a schema or of a Go type is named by its JSON Schema keyword
// ("type", "required", "enum", "additionalProperties", "minimum", …); a rule JSON Schema has no word for keeps its
// validation tag ("eqfield").
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
)

// Issue is one thing wrong with one place of a proposal. It is comparable, and safe to show to a model: it holds the
// kind of what was received, a number or boolean itself where a rule refused it, and other values only where the field was marked as safe to
// echo.
type Issue struct {
	// Pointer is the RFC 6901 JSON Pointer of the place: of the member itself also when it is missing or not allowed.
	// Empty means the whole document.
	Pointer string `json:"pointer"`
	// Rule is the stable name of the rule that was broken.
	Rule string `json:"rule"`
	// Expected says what would be right, as a phrase that reads after "expected": "integer", `one of "single", "double"`.
	Expected string `json:"expected"`
	// Got is the kind of what was received; empty where nothing was.
	Got Kind `json:"got"`
	// Value is the received value as JSON, only where its field is marked as safe to echo.
	Value string `json:"value,omitempty"`
	// Sent is the number or boolean that was received, as JSON, where its kind is right and a rule refuses it: at most [MaxSent] bytes, and
	// never of a field that is marked as secret or not to be echoed. It is for the model alone: String, and with it errors and logs, has the kind.
	Sent string `json:"sent,omitempty"`
	// Source is the layer that found the issue.
	Source Source `json:"source"`
}

// MaxSent bounds [Issue.Sent], in bytes: of a longer number its kind is told.
const MaxSent = 20

// OrLeaveOut ends the Expected of an issue whose member may as well be left out, whatever was received: what is received is no
// part of an issue's identity. Who tells an issue to a reader tells it by [Issue.Wanted].
const OrLeaveOut = ", or leave it out"

// Wanted is Expected as it is told: that the member may be left out is said only where null was received in its place. A wrong
// value is there to be corrected.
func (i Issue) Wanted() string {
	if i.Got == Null {
		return i.Expected
	}
	return strings.TrimSuffix(i.Expected, OrLeaveOut)
}

// ID is a short stable name of the issue: the same place and the same rule give the same id in every run and version.
// What was received is no part of it, so that an issue that persists with another wrong value keeps its id.
func (i Issue) ID() string {
	var room [12]byte
	return string(i.AppendID(room[:0]))
}

// AppendID appends [Issue.ID].
func (i Issue) AppendID(dst []byte) []byte {
	var room [256]byte
	text := append(append(append(append(append(room[:0], i.Pointer...), 0), i.Rule...), 0), i.Expected...)
	sum := sha256.Sum256(text)
	return hex.AppendEncode(dst, sum[:6])
}

// String is the issue as one line for people: "nights: expected integer, got string".
func (i Issue) String() string {
	wants, got := "expected "+i.Wanted(), i.Value
	switch {
	case i.Rule == "required" && i.Got == "" && i.Expected == "":
		return i.Place() + ": required"
	case i.Rule == "required" && i.Got == "":
		return i.Place() + ": required, " + wants
	case i.Expected == "":
		wants = strings.ReplaceAll(i.Rule, "_", " ")
	}
	if got == "" {
		got = string(i.Got)
	}
	if got == "" {
		return i.Place() + ": " + wants
	}
	return i.Place() + ": " + wants + ", got " + got
}

// Place is the issue's pointer as people write it: "nights", "guests/0/name"; "(whole)" for the whole document.
func (i Issue) Place() string {
	if i.Pointer == "" {
		return "(whole)"
	}
	return strings.TrimPrefix(i.Pointer, "/")
}

// SortIssues returns the issues in canonical order (pointer, rule, expected, got, value, sent, source) without repeats. The
// argument is left as it was.
func SortIssues(issues []Issue) []Issue {
	var room [16]*Issue
	order := room[:0]
	for n := range issues {
		order = append(order, &issues[n])
	}
	slices.SortFunc(order, compareIssues)
	sorted := slices.Grow(issues[:0:0], len(issues))
	for n, i := range order {
		if n == 0 || *i != *order[n-1] {
			sorted = append(sorted, *i)
		}
	}
	return sorted
}

// SortedIssues is [SortIssues] for reading: where the issues are in canonical order already, it returns them themselves.
func SortedIssues(issues []Issue) []Issue {
	for n := 1; n < len(issues); n++ {
		if compareIssues(&issues[n-1], &issues[n]) >= 0 {
			return SortIssues(issues)
		}
	}
	return issues
}

// SameIssues reports whether both are the same issues in the same order. What lies in the same memory is not looked at.
func SameIssues(a, b []Issue) bool {
	if len(a) != len(b) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b)
}

// PrintableIssues returns the issues with U+FFFD in the place of bytes that are no UTF-8, for which JSON has no form. The argument
// is left as it was; where nothing is to be done, it is returned itself. It is nil where there are none.
func PrintableIssues(issues []Issue) []Issue {
	if len(issues) == 0 {
		return nil
	}
	cloned := false
	for n := range issues {
		if issues[n].printable() {
			continue
		}
		if !cloned {
			issues, cloned = slices.Clone(issues), true
		}
		i := &issues[n]
		i.Pointer, i.Rule, i.Expected, i.Value = canon.UTF8(i.Pointer), canon.UTF8(i.Rule), canon.UTF8(i.Expected), canon.UTF8(i.Value)
		i.Sent = canon.UTF8(i.Sent)
		i.Got, i.Source = canon.UTF8(i.Got), canon.UTF8(i.Source)
	}
	return issues
}

func (i *Issue) printable() bool {
	return canon.IsUTF8(i.Pointer) && canon.IsUTF8(i.Rule) && canon.IsUTF8(i.Expected) && canon.IsUTF8(i.Got) &&
		canon.IsUTF8(i.Value) && canon.IsUTF8(i.Sent) && canon.IsUTF8(i.Source)
}

func compareIssues(a, b *Issue) int {
	if a.Pointer != b.Pointer {
		return cmp.Compare(a.Pointer, b.Pointer)
	}
	if a.Rule != b.Rule {
		return cmp.Compare(a.Rule, b.Rule)
	}
	return cmp.Or(
		cmp.Compare(a.Expected, b.Expected),
		cmp.Compare(a.Got, b.Got),
		cmp.Compare(a.Value, b.Value),
		cmp.Compare(a.Sent, b.Sent),
		cmp.Compare(a.Source, b.Source),
	)
}
