package feedback

import (
	"errors"
	"io"
	"strings"
)

// TemplateLimits bound a prompt template. The zero value is refused; [DefaultTemplateLimits] is the usual
// choice.
type TemplateLimits struct {
	// MaxText is the longest template text, in bytes, 1 to 16 MiB.
	MaxText int
	// MaxBytes is the longest rendered prompt, in bytes, 1 to 16 MiB.
	MaxBytes int
	// MaxWork bounds one rendering, 1 to 1e9: each round of a range costs 1, each call of a template 100,
	// each byte that print, printf, println, html, js and urlquery handle 1.
	MaxWork int
}

// DefaultTemplateLimits are 64 KiB of template text, 64 KiB of prompt and 1,000,000 of work.
func DefaultTemplateLimits() TemplateLimits {
	return TemplateLimits{MaxText: 64 << 10, MaxBytes: 64 << 10, MaxWork: 1_000_000}
}

// Validate reports every bound that is out of range.
func (l TemplateLimits) Validate() error {
	return errors.Join(
		within("max_text", l.MaxText, 1, 16<<20),
		within("max_bytes", l.MaxBytes, 1, 16<<20),
		within("max_work", l.MaxWork, 1, 1_000_000_000),
	)
}

// Template is a prompt template: text/template with the functions of [Funcs] and [Data] as ".". A rendering
// is a function of its data alone and ends: loops, recursion and output are bounded. Make it with [Parse];
// safe for concurrent use.
type Template struct {
	text string
	lim  TemplateLimits
	// fill is nil where there are no actions.
	fill filler
}

// filler writes a template filled in with data, for at most so much work. A template knows text/template by
// it alone, so that a program that parses none does not link it.
type filler interface {
	fill(out io.Writer, d Data, work int) error
}

// Parse reads a prompt template under [DefaultTemplateLimits]. The error is a [TemplateError].
func Parse(text string) (*Template, error) { return ParseLimited(text, DefaultTemplateLimits()) }

// ParseLimited is Parse under limits of your own, of which the error reports what is out of range.
func ParseLimited(text string, lim TemplateLimits) (*Template, error) {
	if err := lim.Validate(); err != nil {
		return nil, err
	}
	return templateOf(text, lim, goTemplateOf)
}

// templateOf reads a text that is not too long; with reads one that has actions.
func templateOf(text string, lim TemplateLimits, with func(string) (filler, error)) (*Template, error) {
	if len(text) > lim.MaxText {
		return nil, tooLongText(text, lim.MaxText)
	}
	if !strings.Contains(text, leftDelim) {
		return &Template{text: text, lim: lim}, nil
	}
	fill, err := with(text)
	if err != nil {
		return nil, err
	}
	return &Template{text: text, lim: lim, fill: fill}, nil
}

// String is the template's text, as it was parsed.
func (t *Template) String() string { return t.text }

// Actions reports whether the template has actions. One without gives its own text, whatever the data.
func (t *Template) Actions() bool { return t.fill != nil }

// Render fills the template in. A result longer than the limit is an error, for half a prompt is none; so is
// work beyond the limit, a member of Vars that is not there (ask with index: it has no opinion), and a slice
// of an unknown name. The error is a [TemplateError].
func (t *Template) Render(d Data) (string, error) {
	out := &bounded{max: t.lim.MaxBytes}
	if err := t.execute(out, d); err != nil {
		return "", renderError(err, t.lim)
	}
	return string(out.b), nil
}

// RenderWith is [Render] in the user's own words: the template sees f as its feedback and issues. What
// exceeds lim.MaxBytes is cut at the end of a character; the error is a [TemplateError].
func RenderWith(t *Template, f RetryFeedback, lim Limits) (string, error) {
	out := &bounded{max: max(lim.MaxBytes, 0)}
	err := t.execute(out, dataOf(f, lim))
	if err != nil && !errors.Is(err, errTooLong) {
		return "", renderError(err, t.lim)
	}
	return cut(string(out.b), out.max), nil
}

func (t *Template) execute(out io.Writer, d Data) error {
	if t.fill == nil {
		return t.copyTo(out)
	}
	if d.lim == (Limits{}) {
		d.lim = DefaultLimits()
	}
	return t.fill.fill(out, d, t.lim.MaxWork)
}

// copyTo writes a text without actions, which costs what the call of a template does.
func (t *Template) copyTo(out io.Writer) error {
	if t.lim.MaxWork < callCost {
		return errWork
	}
	_, err := io.WriteString(out, t.text)
	return err
}

var errTooLong = errors.New("the prompt is too long")

// bounded is a writer that keeps a little more than max bytes, so that a cut shows, and then refuses.
type bounded struct {
	b   []byte
	max int
}

func (w *bounded) Write(p []byte) (int, error) {
	if len(w.b)+len(p) <= w.max {
		w.b = append(w.b, p...)
		return len(p), nil
	}
	kept := min(len(p), w.max+1-len(w.b))
	w.b = append(w.b, p[:kept]...)
	return kept, errTooLong
}
