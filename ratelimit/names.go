package ratelimit

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/httphint"
)

// family is a family of headers. Windows are ordered by family, and the first family with a window of a name
// wins.
type family int

const (
	ietfField   family = iota // RateLimit, RateLimit-Policy
	ietfNamed                 // the same, with names of the server's own
	ietfLegacy                // RateLimit-Limit, -Remaining, -Reset
	anthropic                 // anthropic-ratelimit-*
	xRateLimit                // x-ratelimit-*-<resource>[-<period>]
	xPlain                    // X-RateLimit-Limit, -Remaining, -Reset
	bySize                    // x-ratelimitbysize-*
	xTokenLimit               // x-tokenlimit-*
	cohereTrial               // x-trial-endpoint-call-*, x-endpoint-monthly-call-limit
	bodyQuota                 // google.rpc.QuotaFailure
)

// field is the part of a window that a header gives.
type field string

const (
	fieldLimit     field = "limit"
	fieldRemaining field = "remaining"
	fieldReset     field = "reset"
	fieldStatus    field = "status"
	fieldPeriod    field = "renewalperiod"
)

// period is the length of a window in seconds; 0 if unknown.
type period int64

func (p period) length() time.Duration { return time.Duration(p) * time.Second }

// key identifies a window, and the part of it that a header gives.
type key struct {
	family   family
	base     string // the name without the period
	resource string
	period   period
	field    field
}

// name returns the window's name: "requests_per_minute", or "requests" if the period is unknown. A name of
// the server's own stays as it is.
func (k key) name() string {
	if k.period == 0 || k.family == ietfNamed {
		return k.base
	}
	return k.base + per + k.period.String()
}

// per stands between a name and its period. The name itself may have one too: "requests_per_model".
const per = "_per_"

// periods are the lengths with a name, and how headers write them.
var periods = [...]struct {
	seconds period
	name    string
	words   []string
}{
	{1, "second", []string{"second", "sec", "1s"}},
	{60, "minute", []string{"minute", "min", "1m", "60s"}},
	{3600, "hour", []string{"hour", "hr", "1h"}},
	{86400, "day", []string{"day", "daily", "1d", "24h"}},
	{7 * 86400, "week", []string{"week", "weekly", "7d"}},
	{30 * 86400, "month", []string{"month", "monthly", "30d"}},
}

// units count the lengths without a name, the longest first.
var units = [...]struct {
	seconds period
	name    string
}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}

// periodOfWord returns the period for a word in a header, or 0.
func periodOfWord(word string) period {
	for _, p := range periods {
		if slices.Contains(p.words, word) {
			return p.seconds
		}
	}
	return 0
}

// String returns the period as in names: "minute", "5h".
func (p period) String() string {
	for _, n := range periods {
		if n.seconds == p {
			return n.name
		}
	}
	for _, u := range units {
		if p%u.seconds == 0 {
			return strconv.FormatInt(int64(p/u.seconds), 10) + u.name
		}
	}
	return ""
}

// Length returns how long the window is: Period, or what its name ends with ("requests_per_5h"). It is 0 if
// neither tells it, and at most a month. A Period below a millisecond counts as none.
func (w Window) Length() time.Duration {
	p := w.Period.Duration
	if p < time.Millisecond {
		p = 0
		if at := strings.LastIndex(w.Name, per); at >= 0 {
			p = periodNamed(w.Name[at+len(per):]).length()
		}
	}
	return min(p, month.length())
}

// month is the longest period.
const month period = 30 * 86400

// periodNamed returns the period that a word of String stands for, or 0.
func periodNamed(word string) period {
	if p := periodOfWord(word); p > 0 {
		return p
	}
	for _, u := range units {
		if count, ok := strings.CutSuffix(word, u.name); ok {
			n, _ := strconv.ParseInt(count, 10, 64)
			return period(min(max(n, 0), int64(month/u.seconds))) * u.seconds
		}
	}
	return 0
}

// resources maps words in headers to the resources of agent results.
var resources = httphint.Lookup(`
requests: requests request req calls
tokens: tokens token
input_tokens: input-tokens prompt-tokens
output_tokens: output-tokens completion-tokens
`)

// resourceOrder is the order of the resources of agent results. Others follow.
var resourceOrder = []string{"requests", "tokens", "input_tokens", "output_tokens"}

func resourceRank(resource string) int {
	if rank := slices.Index(resourceOrder, resource); rank >= 0 {
		return rank
	}
	return len(resourceOrder)
}

// prefixes are the starts of header names; a longer one precedes its own prefix.
var prefixes = [...]struct {
	text   string
	family family
	base   string // the start of the names of such windows
}{
	{"anthropic-ratelimit-", anthropic, ""},
	{"anthropic-priority-", anthropic, "priority_"},
	{"anthropic-fast-", anthropic, "fast_"},
	{"x-ratelimitbysize-", bySize, ""},
	{"ratelimitbysize-", bySize, ""},
	{"x-tokenlimit-", xTokenLimit, ""},
	{"x-ratelimit-", xRateLimit, ""},
	{"x-rate-limit-", xRateLimit, ""},
	{"ratelimit-", ietfLegacy, ""},
	{"rate-limit-", ietfLegacy, ""},
}

// fixedNames are the headers without a pattern.
var fixedNames = map[string]key{
	"x-trial-endpoint-call-limit":     {cohereTrial, "requests", "requests", 0, fieldLimit},
	"x-trial-endpoint-call-remaining": {cohereTrial, "requests", "requests", 0, fieldRemaining},
	"x-endpoint-monthly-call-limit":   {cohereTrial, "requests", "requests", 30 * 86400, fieldLimit},
}

// informative are words after a prefix that do not describe a window.
var informative = httphint.Lookup(`
nothing: tokens-query-cost query-cost over-limit abusepenalty-active key type timeremaining used resource
nothing: scope bucket global policy
`)

// maxName is the longest name that is taken from a header.
const maxName = 64

// recognise parses the lower-case name of a header. known without ok means that the header is known but does
// not describe a window.
func recognise(name string) (k key, ok, known bool) {
	if k, ok = fixedNames[name]; ok {
		return k, true, true
	}
	for _, p := range prefixes {
		rest, found := strings.CutPrefix(name, p.text)
		if !found {
			continue
		}
		if informative(rest) != "" || strings.HasPrefix(rest, "used-") {
			return key{}, false, true
		}
		if p.family == anthropic && strings.HasPrefix(rest, "unified-") {
			k, ok = unified(rest)
			return k, ok, true
		}
		k, ok = windowKey(rest, p.family)
		k.base = p.base + k.base
		return k, ok, ok
	}
	return key{}, false, false
}

// windowKey parses "<field>-<resource>-<period>" and "<resource>-<field>". Resource and period may be
// missing.
func windowKey(rest string, f family) (key, bool) {
	words := strings.Split(rest, "-")
	first, last := field(words[0]), field(words[len(words)-1])
	parts := []field{fieldLimit, fieldRemaining, fieldReset, fieldPeriod}
	part := first
	switch {
	case len(rest) > maxName:
		return key{}, false
	case slices.Contains(parts, first):
		words = words[1:]
	case slices.Contains(parts, last):
		part, words = last, words[:len(words)-1]
	default:
		return key{}, false
	}
	if part == fieldReset && len(words) == 1 && words[0] == "after" {
		words = nil
	}
	k := key{family: f, field: part}
	if n := len(words); n > 0 {
		if k.period = periodOfWord(words[n-1]); k.period > 0 {
			words = words[:n-1]
			words, k.period = severalOf(words, k.period)
		}
		if n = len(words); n > 0 && words[n-1] == "per" {
			words = words[:n-1]
		}
	}
	k.base, k.resource = resourceOf(words, f)
	if f == xRateLimit && len(words) == 0 && k.period == 0 {
		k.family = xPlain
	}
	return k, true
}

// maxSeveral is the most periods in one window.
const maxSeveral = 10_000

// severalOf parses a number before a period: "req-10-second" is a window of ten seconds.
func severalOf(words []string, one period) ([]string, period) {
	if len(words) == 0 {
		return words, one
	}
	last := len(words) - 1
	n, err := strconv.Atoi(words[last])
	if err != nil || n < 1 || n > maxSeveral {
		return words, one
	}
	return words[:last], one * period(n)
}

// resourceOf returns the name and the resource for the words in a header.
func resourceOf(words []string, f family) (base, resource string) {
	joined := strings.Join(words, "-")
	has := func(one string) bool { return strings.Contains(joined, one) }
	base = strings.ReplaceAll(joined, "-", "_")
	switch resource = resources(joined); {
	case resource != "":
		return resource, resource
	case joined == "" && (f == bySize || f == xTokenLimit):
		return "tokens", "tokens"
	case joined == "":
		return "requests", "requests"
	case has("token") && (has("input") || has("prompt")):
		return base, "input_tokens"
	case has("token") && (has("output") || has("generated") || has("completion")):
		return base, "output_tokens"
	case has("token"):
		return base, "tokens"
	case has("request"):
		return base, "requests"
	}
	return base, base
}

// unified parses the limits of an Anthropic plan: "unified-reset", "unified-5h-status".
func unified(rest string) (key, bool) {
	words := strings.Split(rest, "-")
	last := field(words[len(words)-1])
	if last != fieldReset && last != fieldStatus {
		return key{}, false
	}
	k := key{family: anthropic, base: "unified", resource: "unified", field: last}
	switch {
	case len(words) == 2:
		return k, true
	case len(words) == 3 && strings.IndexAny(words[1], "123456789") == 0 && len(rest) <= maxName:
		k.base = "unified_" + words[1]
		return k, true
	}
	return key{}, false
}
