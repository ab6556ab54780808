package feedback

import "strings"

// Engine reads the prompt templates of a config. [GoTemplates] is the one there is; nil takes a text as it
// is, and refuses one with an action. A config names it, so that a program without templates does not link
// text/template.
type Engine interface {
	parse(text string) (*Template, error)
}

// GoTemplates reads text/template, as [Parse] does.
func GoTemplates() Engine { return goTemplates{} }

type goTemplates struct{}

func (goTemplates) parse(text string) (*Template, error) { return Parse(text) }

// ParseBy is [Parse] by an engine. Where it is nil, a text without an action ("{{") is a template that gives
// that text, and any other an error. The error is a [TemplateError].
func ParseBy(e Engine, text string) (*Template, error) {
	if e != nil {
		return e.parse(text)
	}
	return templateOf(text, DefaultTemplateLimits(), noActions)
}

func noActions(text string) (filler, error) {
	before, _, _ := strings.Cut(text, leftDelim)
	return nil, &TemplateError{
		Line:   1 + strings.Count(before, "\n"),
		Reason: "{{ begins an action, and no engine for templates is given: set Templates to feedback.GoTemplates(), and write a literal one as {{\"{{\"}}",
	}
}

// leftDelim begins an action of a template.
const leftDelim = "{{"
