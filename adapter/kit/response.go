package kit

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
)

// Response is the data of a successful response beside the reply.
type Response struct {
	// RequestID identifies the request in the logs of the provider, or of a gateway; empty if there is
	// none.
	RequestID string
	// Model is the model that answered.
	Model string
	// RateLimit are the rate limits in the headers. Some providers send none; gateways may.
	RateLimit ratelimit.State
	// Extra is what the reply has beside what message.Reply keeps, by its names at the API and as it came:
	// grounding, annotations, log probabilities, and all counts of usage. The README of each adapter lists
	// the names. It is nil if there is nothing, and must not be changed.
	Extra Extras
}

// Extras are members of a reply as they came.
type Extras map[string]json.RawMessage

// Keep adds some members of a JSON object. A later one replaces an earlier one; null adds nothing.
func (e *Extras) Keep(object json.RawMessage, names ...string) {
	o, _ := ReadObject(object)
	for _, m := range o {
		if slices.Contains(names, m.Name) && string(m.Value) != "null" {
			e.Set(m.Name, bytes.Clone(m.Value))
		}
	}
}

// Set sets one member.
func (e *Extras) Set(name string, v json.RawMessage) {
	if *e == nil {
		*e = Extras{}
	}
	(*e)[name] = v
}

// maxLine bounds a provider's message in an error, in bytes.
const maxLine = 300

// oneLine returns a provider's message for an error: on one line, without keys (see [fault.Scrub]), and
// bounded.
func oneLine(s string) string {
	s = fault.Scrub(s)
	if len(s) <= maxLine {
		return s
	}
	return strings.ToValidUTF8(s[:maxLine], "") + "…"
}

// whyOf returns the message of a failed request: on one line, bounded, and without the addresses of either
// side, which differ from run to run.
func whyOf(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	text := err.Error()
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Err != nil {
		text = strings.ReplaceAll(text, e.Error(), e.Err.Error())
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		text = strings.ReplaceAll(text, e.Error(), "lookup: "+e.Err)
	}
	return oneLine(text)
}

// minKey is the length of the shortest key that is redacted, in bytes. A shorter one is a placeholder for
// a local server ("x", "ollama"): it is no secret, and ordinary words contain it.
const minKey = 8

// Redact replaces a key in a text. A key that is too short to be a secret stays.
func Redact[T ~string | ~[]byte](s T, key string) T {
	if len(key) < minKey || !strings.Contains(string(s), key) {
		return s
	}
	return T(strings.ReplaceAll(string(s), key, "[key]"))
}

// keyOf returns the API key in the headers of a request; empty if there is none.
func keyOf(head http.Header) string {
	for _, name := range [...]string{"X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
		if key := head.Get(name); key != "" {
			return key
		}
	}
	_, key, _ := strings.Cut(head.Get("Authorization"), " ")
	return strings.TrimSpace(key)
}

// maxWord bounds a code or an id, in bytes.
const maxWord = 128

// word returns a server's code or id if it is one word of name characters and no key; else nothing,
// because it goes into logs.
func word(s string) string {
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_.:/", r))
	}
	if s = strings.TrimSpace(s); len(s) > maxWord || strings.ContainsFunc(s, odd) || fault.Scrub(s) != s {
		return ""
	}
	return s
}

// receivedAt returns the time of a response: by the server's Date, because its resets are dates of that
// clock, else now. head may be nil.
func receivedAt(head http.Header, now time.Time) time.Time {
	if t, err := http.ParseTime(head.Get("Date")); err == nil {
		return t
	}
	return now
}

// TellWhole streams a reply that came whole although a stream was requested. A nil tell streams nothing.
func TellWhole(r message.Reply, tell func(loop.Delta)) {
	if tell == nil {
		return
	}
	if r.Text+r.Thinking != "" {
		tell(loop.Delta{Text: r.Text, Thinking: r.Thinking, Call: -1})
	}
	for n, c := range r.Calls {
		tell(loop.Delta{Call: n, Name: c.Name, Arguments: c.Arguments})
	}
}
