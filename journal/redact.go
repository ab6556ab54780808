package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
)

// Redaction says what is left out of a journal before it is written. What is left out leaves a mark with its keyed digest, and
// the journal is that of the same run with marks in the place of values: it replays, and equal values have equal marks. The
// zero value leaves nothing out. Whoever can guess a value can prove the guess by its digest, unless there is a Key.
//
// What was said to the model and by it is left out by Prompts, Replies and MaxBytes; Tools and Answer leave values out where
// they stand as arguments, results and answers, and with them the raw text of the call or of the answer, what the tool reported,
// emitted and failed with, and what reducers made of it; also what was refused in it, the names of members that the schema does not allow and
// of tools that are not there, and replies that nobody could read; and the history that a run is given. A secret that stands elsewhere too is left out only where that is said of that place: in the result
// of the tool, in another call, in a prompt. A run that was begun without redaction goes on without it.
type Redaction struct {
	// Key is a secret of at least 16 bytes that digests are made with; empty for none. Replaying the prompts needs it too.
	Key []byte
	// Tools has JSON Pointers by tool; "*" as a tool's name stands for every tool.
	Tools map[string]ToolRedaction
	// Answer are JSON Pointers into the structured answer. "" is the whole, "*" as a part any member or item.
	Answer []string
	// Slices are the slices of the session whose values are left out, also of the state that a run begins with.
	Slices []string
	// Prompts leaves out the texts of messages, prompts and templates that the program gave, Replies those that the model
	// gave; both what was said of calls of the model that failed.
	Prompts, Replies bool
	// MaxBytes leaves out every text of more bytes; 0 for no bound.
	MaxBytes int
	// Transcripts keeps what is left out, so that runs can be resumed; nil for none.
	Transcripts Transcripts
}

// ToolRedaction says what is left out of a tool's calls.
type ToolRedaction struct {
	// Arguments and Result are JSON Pointers. "" is the whole, "*" as a part any member or item.
	Arguments, Result []string
}

// Transcripts keeps what was left out of journals. It is safe for concurrent use.
type Transcripts interface {
	// Keep keeps a text under its digest, within a session. It may be given the same one again.
	Keep(ctx context.Context, session, digest string, text []byte) error
	// Lookup gives it back.
	Lookup(ctx context.Context, session, digest string) ([]byte, error)
}

// minKey bounds a secret key from below, in bytes.
const minKey = 16

// Validate says all that is wrong with the rules, joined.
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
				errs = append(errs, fmt.Errorf("%s[%d]: %q is no JSON Pointer: write /member/0", path, n, p))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Tools)) {
		check("tools."+name+".arguments", r.Tools[name].Arguments)
		check("tools."+name+".result", r.Tools[name].Result)
	}
	check("answer", r.Answer)
	return errors.Join(errs...)
}

// tool are the rules for a tool; ok is false where there are none.
func (r *Redaction) tool(name string) (ToolRedaction, bool) {
	own, there := r.Tools[name]
	all, any := r.Tools["*"]
	return ToolRedaction{slices.Concat(own.Arguments, all.Arguments), slices.Concat(own.Result, all.Result)}, there || any
}

// header is what a journal's header says of the rules; nil where nothing is left out.
func (r *Redaction) header() *Redacted {
	if r == nil {
		return nil
	}
	return &Redacted{KeyID: keyID(r.Key)}
}

func (r *Redaction) key() []byte {
	if r == nil {
		return nil
	}
	return r.Key
}

// keyID names a secret key without telling it.
func keyID(key []byte) string {
	if len(key) == 0 {
		return ""
	}
	sum := sha256.Sum256(append([]byte("retake key\x00"), key...))
	return hex.EncodeToString(sum[:8])
}

// eraser leaves things out of one session's journal.
type eraser struct {
	*Redaction
	ctx     context.Context
	session string
	digests *digester
}

func (r *Redaction) eraser(ctx context.Context, session string) *eraser {
	return &eraser{r, ctx, session, newDigester(session, r.Key)}
}

// mark is what stands in the place of a value, as JSON. Blank texts stay: the core tells them from others.
func (e *eraser) mark(value jsontext.Value) ([]byte, error) {
	text, isText := []byte(value), value.Kind() == '"'
	if isText {
		plain, err := unquote(value)
		if err != nil || strings.TrimSpace(plain) == "" {
			return value, err
		}
		text = []byte(plain)
	} else if value.Kind() == 'n' {
		return value, nil
	}
	m, err := e.keep(text, !isText)
	if err != nil {
		return nil, err
	}
	return canon.Marshal(m)
}

// keep keeps a text, or a JSON value that is none, and returns its mark.
func (e *eraser) keep(text []byte, isJSON bool) (string, error) {
	m := mark{Digest: e.digests.of(text).String(), Bytes: len(text), JSON: isJSON}
	if e.Transcripts != nil {
		if err := e.Transcripts.Keep(e.ctx, e.session, m.Digest, text); err != nil {
			return "", fmt.Errorf("keeping what is left out: %w", err)
		}
	}
	return m.String(), nil
}

// free are [freePlaces], read once they are asked for: most programs leave nothing out.
var free struct {
	once sync.Once
	places
}

// isFree reports whether a text that others have written stands at a place.
func isFree(at []string) bool {
	free.once.Do(func() { free.under(nil, freePlaces) })
	return free.has(at)
}

// freePlaces are those of a journal's events, notes and states where texts stand that others have written: where a text may be too
// long, or look like a mark. All else is the form of the record.
var freePlaces = []string{
	"/messages/*/text", "/messages/*/opaque", "/messages/*/calls/*/arguments", "/system", "/failure/message",
	"/reply/message/text", "/reply/message/opaque", "/reply/message/refusal", "/reply/message/calls/*/arguments",
	"/reply/calls/*/raw", "/reply/calls/*/arguments/**", "/reply/answer/value/**", "/reply/answer/reduced/ops/*/values/**",
	"/reply/answer/reduced/error/payload", "/reply/answer/reduced/error/message", "/tool/result/**", "/tool/text", "/tool/progress/**", "/tool/failure/message",
	"/tool/reduced/ops/*/values/**", "/tool/reduced/error/payload", "/tool/reduced/error/message",
	"/tool/issues/*/expected", "/tool/issues/*/value", "/tool/issues/*/sent", "/tool/issues/*/pointer", "/reply/calls/*/issues/*/pointer", "/reply/answer/issues/*/pointer", "/try/failure/message", "/try/value/**", "/plan/prompt", "/plan/note",
	"/reduced/ops/*/values/**", "/reduced/error/payload", "/reduced/error/message", "/slices/*/values/**", "/reducer_errors/*/payload", "/reducer_errors/*/message",
	"/landed/end/result/**", "/landed/end/text", "/landed/end/progress/**", "/landed/events/*/payload/**", "/progress/progress/**",
}

func (p places) has(at []string) bool {
	return slices.ContainsFunc(p, func(pattern []string) bool { return matches(pattern, at) })
}

// looksMarked reports whether a text has the form of a mark.
func looksMarked(text string) bool {
	_, looks := parseMark(text)
	return looks
}

// erase leaves out what stands at the places, the names of the members at names, every free text that is too long, and free texts and
// names that look like marks. What it returns is canonical where raw is.
func (e *eraser) erase(raw []byte, at, names places) ([]byte, error) {
	renamed := false
	out, err := rewrite(raw, nil, func(here []string, value jsontext.Value) ([]byte, error) {
		if at.has(here) {
			return e.mark(value)
		}
		if value.Kind() != '"' || !isFree(here) {
			return nil, nil
		}
		text, err := unquote(value)
		if err != nil {
			return nil, err
		}
		if looksMarked(text) || (e.MaxBytes > 0 && len(text) > e.MaxBytes) {
			return e.mark(value)
		}
		return nil, nil
	}, func(here []string, name string) (string, error) {
		if strings.TrimSpace(name) == "" || !names.has(here) && !(looksMarked(name) && isFree(here)) {
			return name, nil
		}
		renamed = true
		return e.keep([]byte(name), false)
	})
	if err != nil || !renamed {
		return out, err
	}
	return canon.JSON(out)
}
