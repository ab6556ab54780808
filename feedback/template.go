package feedback

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// MaxTemplate is the longest prompt template, in bytes.
const MaxTemplate = 64 << 10

// View is what a template sees of a session. Its methods must be pure: they always return the same.
type View interface {
	// LatestFeedback returns the feedback that the next attempt has to answer: that of the tool with the name
	// action, or the latest of all if action is empty. It returns false at a first attempt, once the action
	// has succeeded, and once it had another outcome that gave no feedback: what is over is not shown.
	LatestFeedback(action string) (RetryFeedback, bool)
	// Feedback iterates over all feedback of the session, oldest first.
	Feedback() iter.Seq[RetryFeedback]
	// Slice returns the values of a session slice as JSON, in order, or false if there is no such slice.
	Slice(name string) ([]json.RawMessage, bool)
}

// Template is a prompt template: plain text, or a template of package prompt. Its results depend only on the
// arguments. It is safe for concurrent use.
type Template interface {
	// Prompt renders the prompt of an attempt, numbered from 1. If attempt is 0, both numbers are those of
	// the latest feedback. A nil view means a first attempt.
	Prompt(view View, attempt, maxAttempts int, lim Limits) (string, error)
	// Words renders one feedback, like [Render] in the user's own words. The result is cut to lim.MaxBytes
	// without splitting a character.
	Words(f RetryFeedback, lim Limits) (string, error)
}

// plainText is a template without actions. It renders its own text.
type plainText string

// Prompt returns the text.
func (t plainText) Prompt(View, int, int, Limits) (string, error) { return string(t), nil }

// Words returns the text, cut to lim.MaxBytes.
func (t plainText) Words(_ RetryFeedback, lim Limits) (string, error) {
	return Cut(string(t), lim.MaxBytes), nil
}

// parse parses templates with actions; nil if package prompt is not imported.
var parse func(text string, vars map[string]json.RawMessage) (Template, error)

// RegisterTemplates sets the parser of templates with actions. Package prompt calls it when the program
// starts.
func RegisterTemplates(read func(text string, vars map[string]json.RawMessage) (Template, error)) {
	parse = read
}

// ParseTemplate parses a prompt template of at most [MaxTemplate] bytes. A template with actions ("{{") needs
// package prompt, which package loop imports; a program without package loop must import it itself. vars are
// the values of its .Vars, each as JSON; nil for none.
func ParseTemplate(text string, vars map[string]json.RawMessage) (Template, error) {
	switch {
	case len(text) > MaxTemplate:
		return nil, fmt.Errorf("prompt template: the text must be at most %d bytes, is %d",
			MaxTemplate, len(text))
	case !strings.Contains(text, "{{"):
		return plainText(text), nil
	case parse == nil:
		return nil, errors.New(`prompt template: the text has an action ("{{"), which needs package prompt:` +
			` import _ "github.com/retake-go/retake/feedback/prompt"`)
	}
	return parse(text, vars)
}
