package feedback

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// TemplateError says what is wrong with a prompt template, and on which line.
type TemplateError struct {
	// Line is the line of the template's text, from 1; 0 where none can be named.
	Line int
	// Reason says what is wrong and what would be right. The wording is ours and does not change with the
	// compiler.
	Reason string
	cause  error
}

// Error names the line and the reason.
func (e *TemplateError) Error() string {
	if e.Line == 0 {
		return "prompt template: " + e.Reason
	}
	return fmt.Sprintf("prompt template, line %d: %s", e.Line, e.Reason)
}

// Unwrap returns the template library's error, where there is one.
func (e *TemplateError) Unwrap() error { return e.cause }

func tooLongText(text string, limit int) error {
	return &TemplateError{Reason: fmt.Sprintf("the text must be at most %d bytes, is %d", limit, len(text))}
}

// renderError says why a template could not be filled in.
func renderError(err error, lim TemplateLimits) error {
	e := &TemplateError{Line: lineOf(err), cause: err}
	call, ours := errors.AsType[*callError](err)
	switch {
	case errors.Is(err, errTooLong):
		e.Reason = fmt.Sprintf("the result must be at most %d bytes, and is longer", lim.MaxBytes)
	case errors.Is(err, errWork):
		e.Reason = fmt.Sprintf("a loop, a recursion or a text grows beyond the work limit of %d", lim.MaxWork)
	case ours:
		e.Reason = call.reason
	default:
		e.Reason = "cannot be filled in: it asks for a field or key that is not there, or for something a value cannot do"
	}
	return e
}

// diagnose says why a text does not parse, by trying what would make it parse.
func diagnose(text string, err error) error {
	e := &TemplateError{Line: lineOf(err), cause: err}
	if trees, ok := parses(text); ok {
		e.Reason = "a function that does not exist; there are " + offered + " and those of text/template"
		if name := unknownFunc(trees); name != "" {
			e.Reason = fmt.Sprintf("there is no function %q; there are %s and those of text/template", name, offered)
		}
		return e
	}
	const tryEnds = 8
	for n := 1; n <= tryEnds; n++ {
		if _, ok := parses(text + strings.Repeat("{{end}}", n)); ok {
			e.Reason = "an {{if}}, {{range}}, {{with}}, {{block}} or {{define}} has no {{end}}"
			return e
		}
	}
	e.Reason = "not a valid action: look for an unclosed {{ or quotation mark, an {{end}} or {{else}} too many, an undeclared $variable"
	return e
}

// parses tries a text with any function allowed.
func parses(text string) ([]*parse.Tree, bool) {
	tree := parse.New(templateName)
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	_, err := tree.Parse(text, "", "", trees)
	list := make([]*parse.Tree, 0, len(trees))
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		list = append(list, trees[name])
	}
	return list, err == nil
}

// lineOf reads the line out of a position like "template: prompt:3:5: …"; 0 where there is none.
func lineOf(err error) int {
	_, rest, ok := strings.Cut(err.Error(), "template: "+templateName+":")
	if !ok {
		return 0
	}
	return leadingNumber(rest)
}

func leadingNumber(s string) int {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil {
		return 0
	}
	return n
}
