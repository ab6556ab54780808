package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fields"
)

// checks are the checks of names that the tags of this package name.
var checks = fields.Checks{
	"argument": argumentProblem,
	"class":    func(name string) string { return classProblem(fault.Class(name)) },
	"form":     formProblem,
	"model":    modelProblem,
	"step":     stepProblem,
	"tool":     toolProblem,
}

// formProblem describes what is wrong with the name of a text form, or returns "".
func formProblem(name string) string {
	if slices.Contains(extract.Forms(), extract.Form(name)) {
		return ""
	}
	forms := make([]string, 0, 20)
	for _, f := range extract.Forms() {
		forms = append(forms, string(f))
	}
	return fields.Quoted(name) + " is not known; " + fields.Suggest(name, forms)
}

func toolProblem(name string) string {
	if name == "" {
		return "a tool without a name; use the name it is registered under"
	}
	return ""
}

// maxClass bounds the name of a user's class, which becomes a label in logs and metrics.
const maxClass = 64

// classProblem describes what is wrong with the name of a class, or returns "". No failure has a class under
// a name of another vocabulary, so a policy that lists such a name would look right and do nothing.
func classProblem(c fault.Class) string {
	if c.Plane() != "" {
		return ""
	}
	if class, known := fault.ParseName(string(c)); known {
		return fmt.Sprintf("%q is another vocabulary's name for a class; write %s", c, class)
	}
	const good = "abcdefghijklmnopqrstuvwxyz0123456789_-."
	if c == "" || len(c) > maxClass || strings.Trim(string(c), good) != "" {
		return fmt.Sprintf("%q is not a valid class name; use 1 to %d of a-z, 0-9, '_', '-' and '.'", c, maxClass)
	}
	if near := nearClass(c); near != "" {
		return fmt.Sprintf("%q looks like a misspelled class; write %s, or choose another name for your own class",
			c, near)
	}
	return ""
}

// nearClass returns the class of package fault that a name probably misspells, or "". A misspelling keeps the
// first letter.
func nearClass(c fault.Class) string {
	var known []string
	for _, k := range append(fault.Correction.Classes(), fault.Transport.Classes()...) {
		if k[0] == c[0] {
			known = append(known, string(k))
		}
	}
	return fields.Near(string(c), known)
}

// maxArgument is the longest name of an argument in an identity, in bytes.
const maxArgument = 200

// argumentProblem describes what is wrong with the name of an argument, or returns "".
func argumentProblem(name string) string {
	hidden := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	if name == "" || len(name) > maxArgument || strings.ContainsFunc(name, hidden) {
		return fmt.Sprintf("is no name of an argument; use 1 to %d bytes of printable text", maxArgument)
	}
	return ""
}
