// Package prompt has the templates of a run's prompts and feedback (loop.Config.System and Feedback):
// text/template with functions that read feedback, history and session slices. A rendering is a pure function
// of its data. Its loops, recursion and output are limited, so it always ends.
package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"
	"text/template"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
)

// The limits of one rendering.
const (
	// maxBytes is the longest prompt, in bytes.
	maxBytes = 64 << 10
	// maxText is the longest text of a template, in bytes.
	maxText = 64 << 10
	// maxWork is the most work: each round of a range costs 20, each call of a template 100, and each byte
	// handled by print, printf, println, html, js and urlquery 1.
	maxWork = 1_000_000
)

// View is what a template sees of a session. Its methods must be pure: they always return the same.
type View interface {
	// LatestFeedback returns the feedback that the next attempt has to answer: that of the tool with the name
	// action, or the latest of all if action is empty. It returns false at a first attempt, and once the
	// action has succeeded or had another outcome without feedback: earlier feedback is not shown then.
	LatestFeedback(action string) (feedback.RetryFeedback, bool)
	// Feedback iterates over all feedback of the session, oldest first.
	Feedback() iter.Seq[feedback.RetryFeedback]
	// Slice returns the values of a session slice as JSON, in order, or false if there is no such slice.
	Slice(name string) ([]json.RawMessage, bool)
}

// Template is a text/template with functions that read [Data], and Data as ".". Make it with [Parse]. It is
// safe for concurrent use.
type Template struct {
	text string
	// base is nil for a text without actions, which renders as it is.
	base *template.Template
	// vars are the Vars of Prompt and Words. Read-only.
	vars map[string]any
}

// Parse parses a prompt template of at most 64 KiB. vars are the Vars of [Template.Prompt] and
// [Template.Words], each as JSON; nil for none. The error is an [Error].
func Parse(text string, vars map[string]json.RawMessage) (*Template, error) {
	t := &Template{text: text, vars: make(map[string]any, len(vars))}
	switch {
	case len(text) > maxText:
		reason := fmt.Sprintf("the text must be at most %d bytes, is %d", maxText, len(text))
		return nil, &Error{Reason: reason}
	case !strings.Contains(text, "{{"):
		return t, nil
	}
	var err error
	if t.base, err = compiled(text); err != nil {
		return nil, err
	}
	for _, name := range canon.Keys(vars) {
		if t.vars[name], err = decoded(vars[name]); err != nil {
			return nil, &Error{Reason: fmt.Sprintf("vars.%s is not JSON", name), cause: err}
		}
	}
	return t, nil
}

// compiled returns the template of a text with actions.
func compiled(text string) (*template.Template, error) {
	empty := template.New(templateName).Option("missingkey=error").Funcs(bound(Data{}, &meter{}))
	base, err := empty.Parse(text)
	if err != nil {
		return nil, parseError(err)
	}
	for _, t := range base.Templates() {
		if missing := guard(base, t.Root); missing != nil {
			line := 1 + strings.Count(text[:missing.Pos], "\n")
			return nil, &Error{Line: line, Reason: fmt.Sprintf("there is no {{define %q}}", missing.Name)}
		}
	}
	return base, nil
}

// Render renders the template. Errors are a result longer than 64 KiB, which is not cut because half a
// prompt is useless; work beyond a million units (a round of a range is 20, a call of a template 100); a
// missing member of Vars (the function index avoids that); and an unknown slice. The error is an [Error].
func (t *Template) Render(d Data) (string, error) {
	out := &bounded{max: maxBytes}
	if err := t.execute(out, d); err != nil {
		return "", renderError(err)
	}
	return string(out.b), nil
}

// Prompt is [Template.Render] with the data of the view.
func (t *Template) Prompt(view View, attempt, maxAttempts int, lim feedback.Limits) (string, error) {
	d := NewData(view, attempt, maxAttempts, lim)
	d.Vars = t.vars
	return t.Render(d)
}

// Words renders one feedback in the template's words. The template sees f as its feedback and issues. The
// result is cut to lim.MaxBytes without splitting a character. The error is an [Error].
func (t *Template) Words(f feedback.RetryFeedback, lim feedback.Limits) (string, error) {
	out := &bounded{max: max(lim.MaxBytes, 0)}
	view := shown(f, lim)
	d := Data{
		Attempt: f.Attempt + 1, MaxAttempts: f.MaxAttempts, Feedback: view, Vars: t.vars, lim: lim,
		history: func() []*FeedbackView { return []*FeedbackView{view} },
	}
	if err := t.execute(out, d); err != nil && !errors.Is(err, errTooLong) {
		return "", renderError(err)
	}
	return feedback.Cut(string(out.b), out.max), nil
}

func (t *Template) execute(out *bounded, d Data) error {
	if t.base == nil {
		_, err := out.Write([]byte(t.text))
		return err
	}
	run, err := t.base.Clone()
	if err != nil {
		return err
	}
	return run.Funcs(bound(d, &meter{left: maxWork})).Execute(out, d)
}

// bound returns all functions of one rendering.
func bound(d Data, m *meter) template.FuncMap {
	all := m.funcs()
	maps.Copy(all, d.funcs())
	return all
}

var errTooLong = errors.New("the prompt is too long")

// bounded is a writer that keeps at most max+1 bytes, so that the caller notices the overflow, and then
// fails.
type bounded struct {
	b   []byte
	max int
}

func (w *bounded) Write(p []byte) (int, error) {
	room := w.max + 1 - len(w.b)
	w.b = append(w.b, p[:min(len(p), room)]...)
	if len(w.b) > w.max {
		return 0, errTooLong
	}
	return len(p), nil
}

// Error reports what is wrong with a prompt template, and on which line.
type Error struct {
	// Line is the line in the template's text, from 1; 0 if unknown.
	Line int
	// Reason says what is wrong.
	Reason string
	cause  error
}

// Error names the line and the reason.
func (e *Error) Error() string {
	if e.Line == 0 {
		return "prompt template: " + e.Reason
	}
	return fmt.Sprintf("prompt template, line %d: %s", e.Line, e.Reason)
}

// Unwrap returns the template library's error, or nil.
func (e *Error) Unwrap() error { return e.cause }

// parseError returns the library's error, with a hint if it has none.
func parseError(err error) error {
	line, reason := position(err)
	switch {
	case strings.HasSuffix(reason, "unexpected EOF"):
		reason = "an {{if}}, {{range}}, {{with}}, {{block}} or {{define}} has no {{end}}"
	case strings.HasPrefix(reason, "function "):
		reason += "; there are " + offered + " and those of text/template"
	}
	return &Error{line, reason, err}
}

// renderError reports why a template could not be rendered. The text is our own, because it is recorded.
func renderError(err error) error {
	line, _ := position(err)
	e := &Error{Line: line, cause: err}
	call, ours := errors.AsType[callError](err)
	switch {
	case errors.Is(err, errTooLong):
		e.Reason = fmt.Sprintf("the result is longer than %d bytes", maxBytes)
	case ours:
		e.Reason = string(call)
	default:
		e.Reason = "cannot be rendered: it uses a field or key that does not exist, or something that a " +
			"value cannot do"
		if place := placeOf(err); place != "" {
			e.Reason = place + " cannot be rendered: there is no such field or key, or a value cannot do " +
				"what it asks for"
		}
	}
	return e
}

// maxPlace is the most bytes of a place in an error.
const maxPlace = 80

// placeOf returns what a rendering failed at, in the template's own words: ".Vars.city"; empty if unknown.
func placeOf(err error) string {
	_, rest, _ := strings.Cut(err.Error(), " at <")
	place, _, found := strings.Cut(rest, ">: ")
	if !found {
		return ""
	}
	return feedback.Cut(place, maxPlace)
}

// callError is an error of one of our template functions.
type callError string

func (e callError) Error() string { return string(e) }

// templateName appears in the library's positions, from which the line number is read.
const templateName = "prompt"

// position splits an error such as "template: prompt:3:5: reason" or "template: prompt:3: reason".
func position(err error) (line int, reason string) {
	_, rest, ok := strings.Cut(err.Error(), "template: "+templateName+":")
	if !ok {
		return 0, err.Error()
	}
	at, reason, _ := strings.Cut(rest, ": ")
	number, _, _ := strings.Cut(at, ":")
	line, _ = strconv.Atoi(number)
	return line, reason
}
