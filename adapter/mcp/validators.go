package mcp

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/retake-go/retake/fault"
)

// dialect parses the text of the validation library behind one SDK's servers. Only places and names of
// rules are taken from it, and a model never sees the text itself.
type dialect struct {
	// is recognises the dialect.
	is *regexp.Regexp
	// broken finds the place and the rule of each violation. Both may be empty.
	broken func(text string) []brokenRule
}

type brokenRule struct{ pointer, rule string }

var dialects = []dialect{
	{regexp.MustCompile(`^validating "arguments": `), ofGo},
	{regexp.MustCompile(`^json: cannot unmarshal `), nil},
	{regexp.MustCompile(`\b(?:Input|Output) validation error: `), ofTypeScript},
	{regexp.MustCompile(`\b\d+ validation errors? for `), ofPython},
}

// maxBroken bounds the places that are taken from a text.
const maxBroken = 20

// validatorIssues returns the issues in a text of a validation library; false if it is none.
func validatorIssues(text string) ([]fault.Issue, bool) {
	for _, d := range dialects {
		if !d.is.MatchString(text) {
			continue
		}
		var issues []fault.Issue
		if d.broken != nil {
			for _, b := range d.broken(text) {
				issues = append(issues, b.issue())
			}
		}
		if len(issues) == 0 {
			issues = []fault.Issue{{Rule: "refused", Expected: "other arguments, for the tool's server refuses these by a rule that it did not tell"}}
		}
		return issues[:min(len(issues), maxBroken)], true
	}
	return nil, false
}

func (b brokenRule) issue() fault.Issue {
	i := fault.Issue{Pointer: b.pointer, Rule: "refused", Expected: "another value, for the tool's server refuses this one"}
	if ruleName.MatchString(b.rule) {
		i.Expected += fmt.Sprintf(" (its rule: %s)", b.rule)
	}
	return i
}

var ruleName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// goPlace matches a step of the Go SDK's library: a place in its schema. The rule follows the last step.
var goPlace = regexp.MustCompile(`validating (root|/\S*): `)

// ofGo reads `validating "arguments": validating root: validating /properties/city: type: …`.
func ofGo(text string) []brokenRule {
	steps := goPlace.FindAllStringSubmatchIndex(text, -1)
	if len(steps) == 0 {
		return nil
	}
	last := steps[len(steps)-1]
	rule, _, _ := strings.Cut(text[last[1]:], ":")
	pointer := ""
	at := strings.Split(text[last[2]:last[3]], "/")
	for n := 1; n+1 < len(at); n += 2 {
		if at[n] != "properties" {
			break
		}
		pointer += "/" + at[n+1]
	}
	return []brokenRule{{pointer, rule}}
}

// ofTypeScript reads the list of issues after the tool's name, if there is one.
func ofTypeScript(text string) []brokenRule {
	at := strings.Index(text, ": [")
	if at < 0 {
		return nil
	}
	var list []struct {
		Code string `json:"code"`
		Path []any  `json:"path"`
	}
	if json.NewDecoder(strings.NewReader(text[at+2:])).Decode(&list) != nil {
		return nil
	}
	var all []brokenRule
	for _, i := range list {
		all = append(all, brokenRule{pointerOf(i.Path), i.Code})
	}
	return all
}

// pythonPlace matches a member's path on a line, and the type of the violation on the next.
var pythonPlace = regexp.MustCompile(`(?m)^(\S+)\n\s+.*\[type=(\w+)`)

// ofPython reads "1 validation error for …", then two lines for each.
func ofPython(text string) []brokenRule {
	var all []brokenRule
	for _, m := range pythonPlace.FindAllStringSubmatch(text, -1) {
		var path []any
		for _, name := range strings.Split(m[1], ".") {
			path = append(path, name)
		}
		all = append(all, brokenRule{pointerOf(path), m[2]})
	}
	return all
}

// pointerOf converts a path of names and indexes to a JSON Pointer.
func pointerOf(path []any) string {
	var b strings.Builder
	for _, step := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(step)))
	}
	return b.String()
}
