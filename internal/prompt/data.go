package prompt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// Data is the data of a template: "." and the results of its functions. Make it with [NewData]; the zero value
// is a first attempt without a session.
type Data struct {
	// Attempt is the number of the attempt that the prompt is for, from 1. MaxAttempts is its limit; negative
	// means none, 0 unknown.
	Attempt, MaxAttempts int
	// Feedback is the feedback of the previous attempt; nil at the first.
	Feedback *FeedbackView
	// Vars are the caller's own values; in a run, those of its config. They are not neutralised: pipe text of
	// users or models through quote.
	Vars map[string]any

	view View
	lim  feedback.Limits
	// history makes what History returns, once; nil for none. Few templates read it, and a session may have
	// much feedback.
	history func() []*FeedbackView
}

// History returns all feedback, oldest first.
func (d Data) History() []*FeedbackView {
	if d.history == nil {
		return nil
	}
	return d.history()
}

// NewData returns the data for the prompt of an attempt. The view may be nil.
func NewData(view View, attempt, maxAttempts int, lim feedback.Limits) Data {
	d := Data{Attempt: max(attempt, 1), MaxAttempts: maxAttempts, view: view, lim: lim}
	if view == nil {
		return d
	}
	d.history = sync.OnceValue(func() (all []*FeedbackView) {
		for f := range view.Feedback() {
			all = append(all, shown(f, lim))
		}
		return all
	})
	if f, ok := view.LatestFeedback(""); ok {
		d.Feedback = shown(f, lim)
	}
	return d
}

// String returns the text of the latest feedback; empty at the first attempt.
func (d Data) String() string { return d.Feedback.String() }

// feedbackFor returns the latest feedback of a tool, or nil.
func (d Data) feedbackFor(tool string) *FeedbackView {
	if d.view == nil && d.Feedback != nil && d.Feedback.f.ToolName == tool {
		return d.Feedback
	}
	if d.view != nil {
		if f, ok := d.view.LatestFeedback(tool); ok {
			return shown(f, d.lim)
		}
	}
	return nil
}

// funcs returns the functions that read the data. They do not fail at a first attempt: feedback is nil (see
// [FeedbackView]), and lists are empty.
//
//	feedback           the feedback that this attempt answers, or nil
//	feedbackFor "tool" the same for one tool
//	history            all feedback, oldest first
//	issues             the issues of feedback
//	attempt            the number of this attempt, from 1
//	maxAttempts        its limit; negative for none, 0 if unknown
//	quote "text"       the text quoted by [feedback.Quote]
//	json value         the value as JSON with sorted members and no marker in it
//	values "slice"     the values of a session slice; an unknown name is an error
func (d Data) funcs() template.FuncMap {
	return template.FuncMap{
		"feedback":    func() *FeedbackView { return d.Feedback },
		"feedbackFor": d.feedbackFor,
		"history":     d.History,
		"issues":      d.Feedback.Issues,
		"attempt":     func() int { return max(d.Attempt, 1) },
		"maxAttempts": func() int { return d.MaxAttempts },
		"quote":       feedback.Quote,
		"json":        safeJSON,
		"values":      d.values,
	}
}

// offered are the names of funcs, in documented order.
const offered = "feedback, feedbackFor, history, issues, attempt, maxAttempts, quote, json, values"

// safeJSON returns a value as JSON without markers.
func safeJSON(v any) (string, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return "", callError("json: the value has no JSON form")
	}
	return feedback.QuoteJSON(string(raw)), nil
}

// values decodes the values of a session slice.
func (d Data) values(slice string) ([]any, error) {
	if d.view == nil {
		return nil, callError(fmt.Sprintf("values %q: there is no session to read", slice))
	}
	items, ok := d.view.Slice(slice)
	if !ok {
		return nil, callError(fmt.Sprintf("values %q: the session has no slice of this name", slice))
	}
	list := make([]any, len(items))
	for n, raw := range items {
		var err error
		if list[n], err = decoded(raw); err != nil {
			return nil, callError(fmt.Sprintf("values %q: item %d is not JSON", slice, n))
		}
	}
	return list, nil
}

// decoded decodes JSON for a template: objects are maps, and numbers are as by number.
func decoded(raw []byte) (v any, err error) {
	return v, json.Unmarshal(raw, &v, json.WithUnmarshalers(json.UnmarshalFromFunc(number)))
}

// number decodes a number for which no Go type is given: as an int64 if it is whole, as its text if it is too
// large for that, else as a float64.
func number(dec *jsontext.Decoder, to *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	raw, err := dec.ReadValue()
	text := string(raw)
	*to = text
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		*to = i
	} else if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		*to = f
	}
	return err
}

// FeedbackView is feedback for a template. [feedback.Quote] neutralises all its texts, and its issues are
// limited. A nil FeedbackView is no feedback, as at the first attempt: it is false in {{if}} and {{with}},
// prints as nothing, and all its methods work. It is safe for concurrent reading.
type FeedbackView struct {
	f   feedback.RetryFeedback
	lim feedback.Limits
}

// shown returns feedback for a template. It returns nil for the zero value.
func shown(f feedback.RetryFeedback, lim feedback.Limits) *FeedbackView {
	if f.Source == "" && f.Attempt == 0 {
		return nil
	}
	return &FeedbackView{f: f, lim: lim}
}

// record returns the feedback; zero for none.
func (s *FeedbackView) record() feedback.RetryFeedback {
	if s == nil {
		return feedback.RetryFeedback{}
	}
	return s.f
}

// String returns the text of [feedback.Render]; empty for no feedback.
func (s *FeedbackView) String() string {
	if s == nil {
		return ""
	}
	return feedback.Render(s.f, s.lim)
}

// Source returns "tool" or "structured_output".
func (s *FeedbackView) Source() string { return feedback.Quote(string(s.record().Source)) }

// Tool returns the name of the called tool; empty for an answer.
func (s *FeedbackView) Tool() string { return feedback.Quote(s.record().ToolName) }

// Attempt returns the number of the failed attempt; 0 for no feedback.
func (s *FeedbackView) Attempt() int { return s.record().Attempt }

// MaxAttempts returns the action's limit; negative means none.
func (s *FeedbackView) MaxAttempts() int { return s.record().MaxAttempts }

// Last reports whether the attempt was the last of its action.
func (s *FeedbackView) Last() bool { return s != nil && s.f.Last() }

// Class returns the class of the failure, such as "tool_validation".
func (s *FeedbackView) Class() string { return feedback.Quote(string(s.record().ErrorType)) }

// Message returns the message of the [feedback.RetryFeedback].
func (s *FeedbackView) Message() string {
	return feedback.QuoteWithin(s.record().Message, feedback.MaxMessage)
}

// Detail returns what the user's code said about the failure.
func (s *FeedbackView) Detail() string { return feedback.Quote(s.record().Detail) }

// Delay returns the wait before the next attempt; 0 if none follows.
func (s *FeedbackView) Delay() time.Duration {
	if s.record().Schedule == nil {
		return 0
	}
	return s.f.Schedule.Delay
}

// Issues returns what is wrong, at most Limits.MaxIssues. If there are more, the members of the proposal take
// turns.
func (s *FeedbackView) Issues() []feedback.Line { return s.show(s.record().Issues) }

// Fixed returns what was wrong before and is right now.
func (s *FeedbackView) Fixed() []feedback.Line { return s.show(s.record().Diff.Fixed) }

// New returns what is wrong now and was not before; nothing at the first attempt.
func (s *FeedbackView) New() []feedback.Line { return s.show(s.record().Diff.New) }

// Persistent returns what was wrong before and still is.
func (s *FeedbackView) Persistent() []feedback.Line { return s.show(s.record().Diff.Persistent) }

func (s *FeedbackView) show(issues []fault.Issue) []feedback.Line {
	if s == nil {
		return nil
	}
	return s.f.Lines(issues, s.lim.MaxIssues)
}

// More returns the number of issues that Issues leaves out.
func (s *FeedbackView) More() int { return len(fault.SortIssues(s.record().Issues)) - len(s.Issues()) }

// MarshalJSON writes the [feedback.RetryFeedback]; null for no feedback.
func (s *FeedbackView) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	return s.f.MarshalJSON()
}
