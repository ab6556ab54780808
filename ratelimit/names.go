package ratelimit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/internal/httphint"
)

// family orders windows and keeps the ways of writing apart; the first family that tells of a window wins.
type family int

const (
	ietfField   family = iota // RateLimit, RateLimit-Policy
	ietfLegacy                // RateLimit-Limit, -Remaining, -Reset
	anthropic                 // anthropic-ratelimit-*
	xRateLimit                // x-ratelimit-*-<resource>[-<period>]
	xPlain                    // X-RateLimit-Limit, -Remaining, -Reset
	bySize                    // x-ratelimitbysize-*
	xTokenLimit               // x-tokenlimit-*
	cohereTrial               // x-trial-endpoint-call-*, x-endpoint-monthly-call-limit
	bodyQuota                 // google.rpc.QuotaFailure
)

// field is the part of a window that a header tells.
type field string

const (
	fieldLimit     field = "limit"
	fieldRemaining field = "remaining"
	fieldReset     field = "reset"
	fieldStatus    field = "status"
	fieldPeriod    field = "renewalperiod"
)

// period is the length of a window in seconds; 0 where it is not known.
type period int64

// key says which window a header speaks of, and of which part.
type key struct {
	family   family
	base     string // the name without the period
	resource string
	period   period
	field    field
}

// name is the window's name: "requests_per_minute"; "requests" where the period is not known.
func (k key) name() string {
	if k.period == 0 {
		return k.base
	}
	return k.base + "_per_" + k.period.String()
}

// periods are the lengths that have a name, with the ways headers write them.
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

// periodOfWord is the period that a header writes so; 0 where it is none.
func periodOfWord(word string) period {
	for _, p := range periods {
		if slices.Contains(p.words, word) {
			return p.seconds
		}
	}
	return 0
}

// String is the period as names have it: "minute", "5h".
func (p period) String() string {
	for _, n := range periods {
		if n.seconds == p {
			return n.name
		}
	}
	for _, u := range [...]struct {
		seconds period
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		if p%u.seconds == 0 {
			return strconv.FormatInt(int64(p/u.seconds), 10) + u.name
		}
	}
	return ""
}

// resources are the ways headers write the resources of agent results.
var resources = httphint.Lookup(`
requests: requests request req calls
tokens: tokens token
input_tokens: input-tokens prompt-tokens
output_tokens: output-tokens completion-tokens
`)

// resourceOrder is the order of the resources of agent results; all others follow.
var resourceOrder = []string{"requests", "tokens", "input_tokens", "output_tokens"}

func resourceRank(resource string) int {
	if rank := slices.Index(resourceOrder, resource); rank >= 0 {
		return rank
	}
	return len(resourceOrder)
}

// prefixes lead the headers of windows, longest first where one leads another.
var prefixes = [...]struct {
	text   string
	family family
	base   string // what the names of such windows begin with
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

// fixedNames are the headers that follow no pattern.
var fixedNames = map[string]key{
	"x-trial-endpoint-call-limit":     {cohereTrial, "requests", "requests", 0, fieldLimit},
	"x-trial-endpoint-call-remaining": {cohereTrial, "requests", "requests", 0, fieldRemaining},
	"x-endpoint-monthly-call-limit":   {cohereTrial, "requests", "requests", 30 * 86400, fieldLimit},
}

// informative is what may stand after a prefix without telling of a window.
var informative = httphint.Lookup(`
nothing: tokens-query-cost query-cost over-limit abusepenalty-active key type timeremaining used resource
nothing: scope bucket global policy
`)

// maxName bounds the names that are taken over from headers.
const maxName = 64

// recognise reads the name of a header, in lower case. Known without ok means: seen, and of no use for
// windows.
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

// windowKey reads "<field>-<resource>-<period>" and "<resource>-<field>", where resource and period may be
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

// maxSeveral bounds how many periods make one window.
const maxSeveral = 10_000

// severalOf reads a number before a period: "req-10-second" is a window of ten seconds.
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

// resourceOf is the name and the resource of the words that a header has for it.
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

// unified reads the limits of an Anthropic plan: "unified-reset", "unified-5h-status".
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
