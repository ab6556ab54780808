package httphint

import (
	"slices"
	"strings"
	"time"
)

// Unread is a header value that could not be parsed, and why.
type Unread struct {
	Header, Value, Why string
}

// waitHeader is a header that asks for a wait.
type waitHeader struct {
	name  string
	milli bool
}

// waitHeaders are in order of preference: finer units first, as in the official clients.
var waitHeaders = [...]waitHeader{
	{"retry-after-ms", true}, {"x-ms-retry-after-ms", true}, {"x-amz-retry-after", true},
	{"retry-after", false}, {"x-retry-after", false}, {"x-ratelimit-retry-after", false},
}

// proxyPrefix is what a LiteLLM proxy puts before the names of the provider's headers.
const proxyPrefix = "llm_provider-"

// IsWait reports whether a header with this lower-case name asks for a wait.
func IsWait(name string) bool {
	name = strings.TrimPrefix(name, proxyPrefix)
	return slices.ContainsFunc(waitHeaders[:], func(w waitHeader) bool { return w.name == name })
}

// Wait returns the wait that the headers ask for, and the values that could not be parsed. The finest unit
// wins if it is not 0; of several values of one header, the longest.
func Wait(h Headers, now time.Time) (wait time.Duration, asked bool, unread []Unread) {
	for _, w := range waitHeaders {
		for _, name := range [...]string{w.name, proxyPrefix + w.name} {
			for _, value := range h[name] {
				d, err := readWait(w, value, now)
				if err != nil {
					unread = append(unread, Unread{name, value, err.Error()})
					continue
				}
				if !asked || d > wait {
					wait = d
				}
				asked = true
			}
		}
		if wait > 0 { // a 0 in one header says nothing where another has more
			break
		}
	}
	return wait, asked, unread
}

func readWait(w waitHeader, value string, now time.Time) (time.Duration, error) {
	if len(value) > MaxValue {
		return 0, errAbsurd
	}
	if w.milli {
		return Millis(value)
	}
	return Delay(value, now)
}

// askWords are the phrases that ask for a wait; a duration follows.
var askWords = [...]string{
	"try again in ", "retry in ", "retry after ", "try again after ", quotedHeader, "wait for ",
	"please wait ",
}

// quotedHeader is a quotation of the header; its number has no unit.
const quotedHeader = "retry-after: "

// wordUnits are the units as words, with or without an "s", and as [Span] has them. Longer words come first.
var wordUnits = [...]struct{ word, unit string }{
	{"millisecond", "ms"}, {"second", "s"}, {"minute", "m"}, {"hour", "h"}, {"day", "d"},
	{"sec", "s"}, {"min", "m"},
}

// TextWait returns the wait in a sentence: "Please try again in 1m26.4s", "Retry after 37 seconds".
func TextWait(text string) (time.Duration, bool) {
	lower := strings.ToLower(text)
	for _, ask := range askWords {
		for rest := lower; ; {
			at := strings.Index(rest, ask)
			if at < 0 {
				break
			}
			rest = rest[at+len(ask):]
			d, ok := leadingWait(rest)
			if !ok && ask == quotedHeader {
				d, ok = leadingSeconds(rest)
			}
			if ok {
				return d, true
			}
		}
	}
	return 0, false
}

// cutNumber splits s after the number at its start.
func cutNumber(s string) (number, rest string) {
	rest = strings.TrimLeft(s, "0123456789.")
	return s[:len(s)-len(rest)], rest
}

// leadingWait parses the duration at the start of s. A number without a unit is not a duration.
func leadingWait(s string) (time.Duration, bool) {
	number, rest := cutNumber(s)
	number = strings.TrimSuffix(number, ".")
	tail := strings.TrimLeft(rest, " ")
	for _, u := range wordUnits {
		after, found := strings.CutPrefix(tail, u.word)
		if found && !startsWithLetter(strings.TrimPrefix(after, "s")) {
			d, err := Span(number + u.unit)
			return d, err == nil
		}
	}
	after := strings.TrimLeft(s, "0123456789.dhmsuµn")
	if startsWithLetter(after) {
		return 0, false
	}
	d, err := Span(strings.TrimRight(strings.TrimSuffix(s, after), "."))
	return d, err == nil
}

// leadingSeconds parses the number at the start of s.
func leadingSeconds(s string) (time.Duration, bool) {
	number, rest := cutNumber(s)
	if startsWithLetter(rest) {
		return 0, false
	}
	d, err := Seconds(strings.TrimSuffix(number, "."))
	return d, err == nil
}

// startsWithLetter reports whether a text in lower case does.
func startsWithLetter(s string) bool { return s != "" && s[0] >= 'a' && s[0] <= 'z' }
