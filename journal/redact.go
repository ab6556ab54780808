package journal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/masked"
	"github.com/retake-go/retake/loop/machine"
)

// Redaction is what is left out of a journal before it is written. The zero value leaves nothing out.
//
// A mark with a keyed digest replaces each value. Equal values have equal marks, so the journal is that of
// the same run with marks in place of values, and it replays. Without a Key, anyone who guesses a value can
// confirm the guess by its digest.
//
// Prompts, Replies and MaxBytes leave out messages to and from the model. Tools and Answer leave out values
// of arguments, results and answers. What has such values in another form is left out, too: all words of a
// reply with such a call or answer, or that could not be parsed; what the tool reported and emitted and its
// errors; refused values; names of members that the schema does not allow and of tools that do not exist. If
// anything that is said is left out, by any of these rules, so is all that repeats it: the results of
// reducers, failures of model calls and tries, summaries, and the history that a run begins with. A secret in
// any other place is only left out if the rules name that place: the result of the tool, another call, a
// prompt. A run that began without redaction continues without it.
type Redaction struct {
	// Key is a secret of at least 16 bytes for the digests; nil for none. Replaying the prompts needs it too.
	// It is in no JSON form and in nothing that package fmt prints.
	Key []byte `json:"-"`
	// Tools has the rules for each tool; "*" means every tool.
	Tools map[string]ToolRedaction
	// Answer are JSON Pointers into the structured answer. "" is the whole answer; the part "*" matches any
	// member or item.
	Answer []string
	// Slices are the session slices whose values are left out, also of the state that a run begins with.
	Slices []string
	// Prompts leaves out the texts of messages, prompts, templates, their vars and stop sequences that the
	// program gave, Replies those that the model gave.
	Prompts, Replies bool
	// MaxBytes leaves out every longer text; 0 means no limit. If a var of the templates is longer, or if
	// they read slices whose values are left out, the templates are left out too, because they may not render
	// without them.
	MaxBytes int
	// Transcripts stores what is left out, so that runs can be resumed; may be nil.
	Transcripts Transcripts
}

// ToolRedaction is what is left out of a tool's calls.
type ToolRedaction struct {
	// Arguments and Result are JSON Pointers. "" is the whole value; the part "*" matches any member or item,
	// and a name that of a member in any case.
	Arguments, Result []string
}

// Transcripts stores what was left out of journals. It must be safe for concurrent use.
type Transcripts interface {
	// Keep stores a text of a session under its digest. The same text may be stored again.
	Keep(ctx context.Context, session, digest string, text []byte) error
	// Lookup returns the text.
	Lookup(ctx context.Context, session, digest string) ([]byte, error)
}

// Forgetter is a [Transcripts] that can forget a session.
type Forgetter interface {
	// Forget deletes all texts of a session. It is no error if there are none.
	Forget(ctx context.Context, session string) error
}

// minKey is the shortest secret key, in bytes.
const minKey = 16

// Format implements [fmt.Formatter]: no log has the key.
func (r Redaction) Format(to fmt.State, verb rune) {
	type shown Redaction
	r.Key = nil
	fmt.Fprintf(to, fmt.FormatString(to, verb), shown(r))
}

// Validate reports everything that is wrong with the rules, joined.
func (r *Redaction) Validate() error {
	var errs []error
	if n := len(r.Key); n > 0 && n < minKey {
		errs = append(errs, fmt.Errorf("key: %d bytes can be guessed: give %d or more", n, minKey))
	}
	if r.MaxBytes < 0 {
		errs = append(errs, fmt.Errorf("max_bytes: %d: give 0 or more", r.MaxBytes))
	}
	check := func(path string, pointers []string) {
		for n, p := range pointers {
			if _, ok := parsePointer(p); !ok {
				errs = append(errs, fmt.Errorf("%s[%d]: %q is not a JSON Pointer: write /member/0", path, n, p))
			}
		}
	}
	for _, name := range canon.Keys(r.Tools) {
		check("tools."+name+".arguments", r.Tools[name].Arguments)
		check("tools."+name+".result", r.Tools[name].Result)
	}
	check("answer", r.Answer)
	return errors.Join(errs...)
}

// tool returns the rules for a tool; ok is false if there are none.
func (r *Redaction) tool(name string) (rules ToolRedaction, ok bool) {
	own, hasOwn := r.Tools[name]
	all, hasAll := r.Tools["*"]
	rules = ToolRedaction{
		Arguments: slices.Concat(own.Arguments, all.Arguments), Result: slices.Concat(own.Result, all.Result),
	}
	return rules, hasOwn || hasAll
}

// tooLong reports whether a text is left out for its length.
func (r *Redaction) tooLong(text string) bool { return r.MaxBytes > 0 && len(text) > r.MaxBytes }

// header returns what a journal's header says about the rules; nil without redaction.
func (r *Redaction) header() *redacted {
	if r == nil {
		return nil
	}
	return &redacted{KeyID: keyID(r.Key)}
}

// keyID identifies a secret key without revealing it.
func keyID(key []byte) string {
	if len(key) == 0 {
		return ""
	}
	sum := sha256.Sum256(append([]byte("retake key\x00"), key...))
	return hex.EncodeToString(sum[:8])
}

// redactor redacts one session's journal.
type redactor struct {
	*Redaction
	ctx     context.Context
	session string
	digests *digester
}

// redactor returns nil without redaction.
func (r *Redaction) redactor(ctx context.Context, session string) *redactor {
	if r == nil {
		return nil
	}
	return &redactor{r, ctx, session, newKeyedDigester(session, r.Key)}
}

// mark returns the mark that replaces a value, as JSON. Blank texts are kept, because the core treats them
// differently.
func (r *redactor) mark(value jsontext.Value, text string) ([]byte, error) {
	isJSON := value.Kind() != '"'
	if isJSON {
		text = string(value)
	}
	if value.Kind() == 'n' || strings.TrimSpace(text) == "" {
		return value, nil
	}
	m, err := r.keep(text, isJSON)
	if err != nil {
		return nil, err
	}
	return canon.Marshal(m)
}

// keep stores a text, or another JSON value, and returns its mark.
func (r *redactor) keep(text string, isJSON bool) (string, error) {
	m := mark{Digest: r.digests.of([]byte(text)).String(), Bytes: len(text), JSON: isJSON}
	if r.Transcripts != nil {
		if err := r.Transcripts.Keep(r.ctx, r.session, m.Digest, []byte(text)); err != nil {
			return "", fmt.Errorf("keeping what is left out: %w", err)
		}
	}
	return m.String(), nil
}

// restored returns a record with what its marks stand for.
func restored(ctx context.Context, from Transcripts, session string, rec Record) (Record, error) {
	lookup := func(text string) (left []byte, m mark, err error) {
		m, marked := parseMark(text)
		if !marked {
			return nil, m, nil
		}
		if left, err = from.Lookup(ctx, session, m.Digest); err != nil {
			err = fmt.Errorf("%w: what is left out as %s cannot be had: %w", ErrRedacted, m.Digest, err)
		}
		return left, m, err
	}
	w := masked.Rewriter{
		Value: func(_ []string, _ jsontext.Value, text string) ([]byte, error) {
			left, m, err := lookup(text)
			if left == nil || m.JSON || err != nil {
				return left, err
			}
			return canon.Marshal(string(left))
		},
		Name: func(_ []string, name string) (string, error) {
			left, _, err := lookup(name)
			return cmp.Or(string(left), name), err
		},
	}
	raw, err := canon.AppendDeclared(nil, &rec)
	if err == nil {
		raw, err = w.Rewrite(raw)
	}
	if err != nil {
		return rec, err
	}
	if rec, err = decode(raw); err == nil && rec.Snapshot != nil {
		rec.Snapshot.State, err = machine.Reseal(rec.Snapshot.State)
	}
	return rec, err
}

// mark replaces something that was left out. Equal values have equal marks.
type mark struct {
	// Digest is the keyed digest of what was left out, Bytes its length.
	Digest string
	Bytes  int
	// JSON reports that it was a JSON value other than a string.
	JSON bool
}

var markForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[redacted ([0-9a-f]{32}), ([0-9]{1,18}) bytes( of JSON)?\]$`)
})

const markStart = "[redacted "

func (m mark) String() string {
	of := ""
	if m.JSON {
		of = " of JSON"
	}
	return fmt.Sprintf("%s%s, %d bytes%s]", markStart, m.Digest, m.Bytes, of)
}

func parseMark(text string) (mark, bool) {
	if !strings.HasPrefix(text, markStart) {
		return mark{}, false
	}
	found := markForm().FindStringSubmatch(text)
	if found == nil {
		return mark{}, false
	}
	size, err := strconv.Atoi(found[2])
	return mark{found[1], size, found[3] != ""}, err == nil
}

// looksMarked reports whether a text has the form of a mark.
func looksMarked(text string) bool {
	_, looks := parseMark(text)
	return looks
}
