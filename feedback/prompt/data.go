package prompt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// Data is what a template is filled in with: as "." and through the functions of [Funcs]. Make it with
// [NewData]; the zero value is a first attempt without a session.
type Data struct {
	// Attempt is the attempt the prompt is for, from 1; MaxAttempts its bound, negative for none, 0 where it
	// is not known.
	Attempt, MaxAttempts int
	// Feedback is that of the attempt before; nil at the first.
	Feedback *Shown
	// History is all feedback, oldest first.
	History []*Shown
	// Vars are the caller's own values. Nothing neutralises them: pipe what a user or model wrote through
	// quote.
	Vars map[string]any

	view feedback.View
	lim  feedback.Limits
}

// NewData reads a view, which may be nil, for the prompt of an attempt. Where attempt is 0, both numbers are
// taken from the latest feedback.
func NewData(view feedback.View, attempt, maxAttempts int, lim feedback.Limits) Data {
	d := Data{Attempt: max(attempt, 1), MaxAttempts: maxAttempts, view: view, lim: lim}
	if view == nil {
		return d
	}
	for f := range view.Feedback() {
		d.History = append(d.History, Show(f, lim))
	}
	f, ok := view.LatestFeedback("")
	if !ok {
		return d
	}
	d.Feedback = Show(f, lim)
	if attempt == 0 {
		d.Attempt, d.MaxAttempts = f.Attempt+1, f.MaxAttempts
	}
	return d
}

// String is the latest feedback's text; empty at the first attempt.
func (d Data) String() string { return d.Feedback.String() }

// feedbackFor is the latest feedback of a tool; nil where there is none.
func (d Data) feedbackFor(tool string) *Shown {
	if d.view == nil && d.Feedback != nil && d.Feedback.f.ToolName == tool {
		return d.Feedback
	}
	if d.view != nil {
		if f, ok := d.view.LatestFeedback(tool); ok {
			return Show(f, d.lim)
		}
	}
	return nil
}

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
//	quote "text"       the text as by [feedback.Quote]
//	json value         the value as JSON with sorted members and no marker in it
//	values "slice"     the items of a session slice; an unknown name is an error
func Funcs(view feedback.View) template.FuncMap {
	return funcs(func() Data { return NewData(view, 0, 0, feedback.DefaultLimits()) })
}

func funcs(data func() Data) template.FuncMap {
	return template.FuncMap{
		"feedback":    func() *Shown { return data().Feedback },
		"feedbackFor": func(tool string) *Shown { return data().feedbackFor(tool) },
		"history":     func() []*Shown { return data().History },
		"issues":      func() []feedback.Line { return data().Feedback.Issues() },
		"attempt":     func() int { return max(data().Attempt, 1) },
		"maxAttempts": func() int { return data().MaxAttempts },
		"quote":       feedback.Quote,
		"json":        safeJSON,
		"values":      func(slice string) ([]any, error) { return data().values(slice) },
	}
}

// offered are the names of funcs, in the order of their documentation.
const offered = "feedback, feedbackFor, history, issues, attempt, maxAttempts, quote, json, values"

// safeJSON writes a value as JSON that reads back as the same value and has no marker in it.
func safeJSON(v any) (string, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return "", callError("json: the value has no JSON form")
	}
	return feedback.QuoteJSON(string(raw)), nil
}

// values decodes the items of a session slice.
func (d Data) values(slice string) ([]any, error) {
	if d.view == nil {
		return nil, callError(fmt.Sprintf("values %q: there is no session to read", slice))
	}
	items, ok := d.view.Slice(slice)
	if !ok {
		return nil, callError(fmt.Sprintf("values %q: the session has no slice of this name", slice))
	}
	list, numbers := make([]any, len(items)), json.WithUnmarshalers(json.UnmarshalFromFunc(number))
	for n, raw := range items {
		if err := json.Unmarshal(raw, &list[n], numbers); err != nil {
			return nil, callError(fmt.Sprintf("values %q: item %d is not JSON", slice, n))
		}
	}
	return list, nil
}

// number reads a number that has no Go type: as an int64 where it is whole, as its text where it is too large
// for that, else as a float64.
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

// Shown is feedback as a template sees it: every text it gives is neutralised as by [feedback.Quote], and its
// issues are a fair choice within the limits. A nil Shown is no feedback, as at the first attempt: it is
// false in {{if}} and {{with}}, prints as nothing, and all its methods may be called. Safe for concurrent
// reading.
type Shown struct {
	f   feedback.RetryFeedback
	lim feedback.Limits
}

// Show makes feedback fit for a template. Of the zero value, which is no feedback, it is nil.
func Show(f feedback.RetryFeedback, lim feedback.Limits) *Shown {
	if f.Source == "" && f.Attempt == 0 {
		return nil
	}
	return &Shown{f: f, lim: lim}
}

// record is the feedback itself, zero for none.
func (s *Shown) record() feedback.RetryFeedback {
	if s == nil {
		return feedback.RetryFeedback{}
	}
	return s.f
}

// String is the text of [feedback.Render]; empty for no feedback.
func (s *Shown) String() string {
	if s == nil {
		return ""
	}
	return feedback.Render(s.f, s.lim)
}

// Source is "tool" or "structured_output".
func (s *Shown) Source() string { return feedback.Quote(string(s.record().Source)) }

// Tool is the called tool's name; empty for an answer.
func (s *Shown) Tool() string { return feedback.Quote(s.record().ToolName) }

// Attempt is the attempt that failed, 0 for no feedback.
func (s *Shown) Attempt() int { return s.record().Attempt }

// MaxAttempts is the action's bound; negative where it has none.
func (s *Shown) MaxAttempts() int { return s.record().MaxAttempts }

// Last reports whether the attempt was the last of its action.
func (s *Shown) Last() bool { return s != nil && s.f.Last() }

// Class is the class of the failure, as in "tool_validation".
func (s *Shown) Class() string { return feedback.Quote(string(s.record().ErrorType)) }

// Message is the one line of [feedback.RetryFeedback].
func (s *Shown) Message() string {
	return feedback.QuoteWithin(s.record().Message, feedback.MaxMessage)
}

// Detail is what the user's own code said of the failure.
func (s *Shown) Detail() string { return feedback.Quote(s.record().Detail) }

// Delay is the wait before the next attempt; 0 where none follows.
func (s *Shown) Delay() time.Duration {
	if s.record().Schedule == nil {
		return 0
	}
	return s.f.Schedule.Delay
}

// Issues are what is wrong; Limits.MaxIssues at most, chosen fairly over the members of the proposal.
func (s *Shown) Issues() []feedback.Line { return s.show(s.record().Issues) }

// Fixed are what was wrong before and is right now.
func (s *Shown) Fixed() []feedback.Line { return s.show(s.record().Diff.Fixed) }

// New are what is wrong now and was not before; none at the first attempt, when nothing was before.
func (s *Shown) New() []feedback.Line { return s.show(s.record().Diff.New) }

// Persistent are what was wrong before and still is.
func (s *Shown) Persistent() []feedback.Line { return s.show(s.record().Diff.Persistent) }

func (s *Shown) show(issues []fault.Issue) []feedback.Line {
	if s == nil {
		return nil
	}
	return s.f.Lines(issues, s.lim.MaxIssues)
}

// More counts the issues that Issues leaves out.
func (s *Shown) More() int { return len(fault.SortIssues(s.record().Issues)) - len(s.Issues()) }

// MarshalJSON is that of [feedback.RetryFeedback]; null for no feedback.
func (s *Shown) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	return s.f.MarshalJSON()
}
