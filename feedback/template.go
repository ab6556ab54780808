package feedback

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// MaxTemplate bounds the text of a prompt template, in bytes.
const MaxTemplate = 64 << 10

// View is what templates may see of a session. Its methods must be pure: the same view always says the same.
type View interface {
	// LatestFeedback is the feedback that the attempt about to be made answers, of the tool with this name,
	// or of whatever failed last where action is empty. False where there is none: at a first attempt, and
	// once the action has succeeded.
	LatestFeedback(action string) (RetryFeedback, bool)
	// Feedback is all feedback of the session, oldest first.
	Feedback() iter.Seq[RetryFeedback]
	// Slice is the items of a session slice as JSON, in order; false where no slice has this name.
	Slice(name string) ([]json.RawMessage, bool)
}

// Template is a prompt template: [Text], or one of package prompt. What it gives depends on its arguments
// alone. Safe for concurrent use.
type Template interface {
	// Prompt fills the template in for the prompt of an attempt, which is numbered from 1; where attempt is
	// 0, both numbers are taken from the latest feedback. A nil view is that of a first attempt.
	Prompt(view View, attempt, maxAttempts int, lim Limits) (string, error)
	// Words are one feedback in the user's own words, as [Render] gives it in ours. What exceeds lim.MaxBytes
	// is cut at the end of a character.
	Words(f RetryFeedback, lim Limits) (string, error)
}

// Text is a template without actions: it gives its own text.
type Text string

// Prompt is the text.
func (t Text) Prompt(View, int, int, Limits) (string, error) { return string(t), nil }

// Words is the text, cut to lim.MaxBytes.
func (t Text) Words(_ RetryFeedback, lim Limits) (string, error) {
	return Cut(string(t), lim.MaxBytes), nil
}

// parse reads templates with actions; nil where package prompt is not imported.
var parse func(text string) (Template, error)

// RegisterTemplates says what reads templates with actions. It is for package prompt, which calls it as the
// program begins.
func RegisterTemplates(read func(text string) (Template, error)) { parse = read }

// ParseTemplate reads the text of a prompt template, at most [MaxTemplate] bytes. One with actions ("{{")
// needs package prompt, which the program has to import: a program without templates does not link
// text/template.
func ParseTemplate(text string) (Template, error) {
	switch {
	case len(text) > MaxTemplate:
		return nil, fmt.Errorf("prompt template: the text must be at most %d bytes, is %d",
			MaxTemplate, len(text))
	case !strings.Contains(text, "{{"):
		return Text(text), nil
	case parse == nil:
		return nil, errors.New(`prompt template: the text has an action ("{{"), which needs package prompt:` +
			` import _ "github.com/retake-go/retake/feedback/prompt"`)
	}
	return parse(text)
}
