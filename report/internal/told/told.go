// Package told has words that the timeline, the pages and the console share.
package told

import (
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/loop/machine"
)

// Words writes a name of the API as words.
func Words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// Outcome returns an outcome in plain words: of a failure its class and the first issue.
func Outcome(o *machine.Outcome) string {
	about := o.About()
	if !o.OK {
		about = strings.Replace(about, string(o.Reason), o.Reason.Phrase(), 1)
	}
	if x := o.Exhaustion; x != nil {
		about = strings.Replace(about, string(x.Failure.Class), Failure(&x.Failure), 1)
	}
	return about
}

// InDoubt names the calls of an outcome whose effect is unknown; empty if there are none.
func InDoubt(o *machine.Outcome) string {
	if len(o.InDoubt) == 0 {
		return ""
	}
	names := make([]string, len(o.InDoubt))
	for n, c := range o.InDoubt {
		names[n] = c.Tool
	}
	return several.Of(len(names), "call") + " in doubt: " + strings.Join(names, ", ")
}

// Failure returns the class of a failure and its first issue in a few words, without values.
func Failure(f *fault.Failure) string {
	text := Words(string(f.Class))
	if len(f.Issues) > 0 {
		first := f.Issues[0]
		first.Value = ""
		text += ", " + Issue(first)
	}
	return text
}

// kinds are the kinds of JSON values in plain words.
var kinds = map[fault.Kind]string{
	fault.String: "text", fault.Integer: "an integer", fault.Number: "a number", fault.Boolean: "true or false",
	fault.Array: "a list", fault.Object: "an object", fault.Null: "null",
}

// maxExpected is the most characters of what was expected.
const maxExpected = 48

// Issue returns an issue in a few words: "cents was text", "currency missing".
func Issue(i fault.Issue) string {
	name := i.Place()
	lead := strings.TrimPrefix(name, "(whole)")
	if lead != "" {
		lead += ": "
	}
	switch {
	case i.Rule == "required" && i.Got == "":
		return name + " missing"
	case i.Rule == "additionalProperties":
		return name + " not known"
	case i.Rule == fault.RuleUnknownTool:
		return "unknown tool"
	case i.Rule == "type" && i.Got != "":
		return name + " was " + kinds[i.Got]
	case i.Expected == "":
		return lead + i.Says()
	}
	return lead + "expected " + Clip(i.Expected, maxExpected)
}
