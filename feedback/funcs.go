package feedback

import (
	"encoding/json"
	"fmt"
	"text/template"
)

// Funcs are the functions that read feedback, for a text/template of your own. Each call reads the view,
// which may be nil, anew. They are total: at the first attempt feedback is nil (see [Shown]) and lists are
// empty.
//
//	feedback           the feedback that this attempt answers, or nil
//	feedbackFor "tool" the same for one tool
//	history            all feedback, oldest first
//	issues             the issues of feedback
//	attempt            the number of this attempt, from 1
//	maxAttempts        its bound; negative for none, 0 where it is not known
//	quote "text"       the text as by [Quote]
//	json value         the value as JSON with sorted members and no marker in it
//	values "slice"     the items of a session slice; an unknown name is an error
func Funcs(view View) template.FuncMap {
	return funcs(func() Data { return NewData(view, 0, 0, DefaultLimits()) })
}

func funcs(data func() Data) template.FuncMap {
	return template.FuncMap{
		"feedback":    func() *Shown { return data().Feedback },
		"feedbackFor": func(tool string) *Shown { return data().feedbackFor(tool) },
		"history":     func() []*Shown { return data().History },
		"issues":      func() []ShownIssue { return data().Feedback.Issues() },
		"attempt":     func() int { return max(data().Attempt, 1) },
		"maxAttempts": func() int { return data().MaxAttempts },
		"quote":       Quote,
		"json":        safeJSON,
		"values":      func(slice string) ([]any, error) { return data().values(slice) },
	}
}

// offered are the names of funcs, in the order of their documentation.
const offered = "feedback, feedbackFor, history, issues, attempt, maxAttempts, quote, json, values"

// values decodes the items of a session slice; whole numbers become int64.
func (d Data) values(slice string) ([]any, error) {
	if d.view == nil {
		return nil, &callError{reason: fmt.Sprintf("values %q: there is no session to read", slice)}
	}
	items, ok := d.view.Slice(slice)
	if !ok {
		return nil, &callError{reason: fmt.Sprintf("values %q: the session has no slice of this name", slice)}
	}
	list := make([]any, len(items))
	for n, raw := range items {
		v, err := decode(raw)
		if err != nil {
			return nil, &callError{reason: fmt.Sprintf("values %q: item %d is not JSON", slice, n), cause: err}
		}
		list[n] = v
	}
	return list, nil
}

// callError is what one of our functions says to a template.
type callError struct {
	reason string
	cause  error
}

func (e *callError) Error() string { return e.reason }
func (e *callError) Unwrap() error { return e.cause }

var _ json.Marshaler = (*Shown)(nil)
