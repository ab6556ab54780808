package feedback

import (
	"cmp"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
)

// Shown is feedback as a template sees it: every text it gives is neutralised as by [Quote], and its issues
// are a fair choice within the limits. A nil Shown is no feedback, as at the first attempt: it is false in
// {{if}} and {{with}}, prints as nothing, and all its methods may be called. Safe for concurrent reading.
type Shown struct {
	f   RetryFeedback
	lim Limits
}

// Show makes feedback fit for a template of any engine. Of the zero value, which is no feedback, it is nil.
func Show(f RetryFeedback, lim Limits) *Shown {
	if f.none() {
		return nil
	}
	return &Shown{f: f, lim: lim}
}

// ShownIssue is an issue as a template sees it. All its texts are neutralised.
type ShownIssue struct {
	// Place is where: "guests/0/name", "(whole)". Rule is the rule's stable name.
	Place, Rule string
	// Expected says what would be right; Got the kind of what was received, Value the value itself where it
	// may be shown.
	Expected, Got, Value string
	// Persistent is set where the attempt before had the same issue.
	Persistent bool
	// Text is the issue as one line: "nights: still wrong: expected integer, got string".
	Text string
}

// String is Text.
func (i ShownIssue) String() string { return i.Text }

func (i ShownIssue) toMap() map[string]any {
	return map[string]any{
		"place": i.Place, "rule": i.Rule, "expected": i.Expected, "got": i.Got, "value": i.Value,
		"persistent": i.Persistent, "text": i.Text,
	}
}

// record is the feedback itself, zero for none.
func (s *Shown) record() RetryFeedback {
	if s == nil {
		return RetryFeedback{}
	}
	return s.f
}

// String is the text of [Render]; empty for no feedback.
func (s *Shown) String() string {
	if s == nil {
		return ""
	}
	return Render(s.f, s.lim)
}

// Source is "tool" or "structured_output".
func (s *Shown) Source() string { return Quote(string(s.record().Source)) }

// Tool is the called tool's name; empty for an answer.
func (s *Shown) Tool() string { return Quote(s.record().ToolName) }

// Attempt is the attempt that failed, 0 for no feedback.
func (s *Shown) Attempt() int { return s.record().Attempt }

// MaxAttempts is the action's bound; negative where it has none.
func (s *Shown) MaxAttempts() int { return s.record().MaxAttempts }

// Last reports whether the attempt was the last of its action.
func (s *Shown) Last() bool { return s != nil && s.f.Last() }

// Class is the class of the failure, as in "tool_validation".
func (s *Shown) Class() string { return Quote(string(s.record().ErrorType)) }

// Message is the one line of [RetryFeedback.Message].
func (s *Shown) Message() string { return string(appendQuoted(nil, s.record().Message, MaxMessage)) }

// Detail is what the user's own code said of the failure.
func (s *Shown) Detail() string { return Quote(s.record().Detail) }

// Delay is the wait before the next attempt; 0 where none follows.
func (s *Shown) Delay() time.Duration {
	if s == nil || s.f.Schedule == nil {
		return 0
	}
	return s.f.Schedule.Delay
}

// Issues are what is wrong; Limits.MaxIssues at most, chosen fairly over the members of the proposal.
func (s *Shown) Issues() []ShownIssue { return s.show(s.record().Issues) }

// Fixed are what was wrong before and is right now.
func (s *Shown) Fixed() []ShownIssue { return s.show(s.record().Diff.Fixed) }

// New are what is wrong now and was not before; none at the first attempt, when nothing was before.
func (s *Shown) New() []ShownIssue { return s.show(s.record().Diff.New) }

// Persistent are what was wrong before and still is.
func (s *Shown) Persistent() []ShownIssue { return s.show(s.record().Diff.Persistent) }

// More counts the issues that Issues leaves out.
func (s *Shown) More() int { return len(fault.SortIssues(s.record().Issues)) - len(s.Issues()) }

func (s *Shown) show(issues []fault.Issue) []ShownIssue {
	if s == nil || len(issues) == 0 {
		return nil
	}
	issues = choose(fault.SortIssues(issues), s.lim.MaxIssues)
	p := page{f: &s.f}
	list := make([]ShownIssue, len(issues))
	for n := range issues {
		i := &issues[n]
		line := string(p.appendLine(nil, i))
		list[n] = ShownIssue{
			Place: string(appendPlace(nil, i)), Rule: Quote(i.Rule), Expected: Quote(i.Wanted()), Got: Quote(string(i.Got)),
			Value: Quote(cmp.Or(i.Value, i.Sent)), Persistent: p.persists(i), Text: strings.TrimSuffix(strings.TrimPrefix(line, "- "), "\n"),
		}
	}
	return list
}

// Map is the feedback for template engines that read maps (Jinja, Handlebars): numbers are ints, names are
// those of the wire form, "text" is String. Empty for no feedback, so that a condition on it is false.
func (s *Shown) Map() map[string]any {
	if s == nil {
		return map[string]any{}
	}
	return map[string]any{
		"source": s.Source(), "tool_name": s.Tool(), "attempt": s.Attempt(), "max_attempts": s.MaxAttempts(), "last": s.Last(),
		"error_type": s.Class(), "message": s.Message(), "detail": s.Detail(), "next_delay_seconds": formatSeconds(s.Delay()),
		"issues": toMaps(s.Issues()), "fixed": toMaps(s.Fixed()), "new": toMaps(s.New()), "persistent": toMaps(s.Persistent()),
		"more": s.More(), "text": s.String(),
	}
}

func toMaps(issues []ShownIssue) []any {
	list := make([]any, len(issues))
	for n, i := range issues {
		list[n] = i.toMap()
	}
	return list
}

// MarshalJSON is that of [RetryFeedback]; null for no feedback.
func (s *Shown) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	return s.f.MarshalJSON()
}
