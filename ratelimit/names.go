package ratelimit

import (
	"strconv"
	"strings"
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

// periodNames are the lengths that have a name.
var periodNames = [...]struct {
	seconds period
	name    string
}{
	{1, "second"}, {60, "minute"}, {3600, "hour"}, {86400, "day"}, {7 * 86400, "week"}, {30 * 86400, "month"},
}

// periodUnits are the units of the other lengths.
var periodUnits = [...]struct {
	seconds period
	name    string
}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}

// String is the period as names have it: "minute", "5h".
func (p period) String() string {
	for _, n := range periodNames {
		if n.seconds == p {
			return n.name
		}
	}
	for _, u := range periodUnits {
		if p%u.seconds == 0 {
			return strconv.FormatInt(int64(p/u.seconds), 10) + u.name
		}
	}
	return ""
}

// periodWords are the ways headers write a period.
var periodWords = map[string]period{
	"second": 1, "sec": 1, "1s": 1,
	"minute": 60, "min": 60, "1m": 60, "60s": 60,
	"hour": 3600, "hr": 3600, "1h": 3600,
	"day": 86400, "daily": 86400, "1d": 86400, "24h": 86400,
	"week": 7 * 86400, "weekly": 7 * 86400, "7d": 7 * 86400,
	"month": 30 * 86400, "monthly": 30 * 86400, "30d": 30 * 86400,
}

// resourceWords are the ways headers write the resources of agent results.
var resourceWords = map[string]string{
	"requests": "requests", "request": "requests", "req": "requests", "calls": "requests",
	"tokens": "tokens", "token": "tokens",
	"input-tokens": "input_tokens", "prompt-tokens": "input_tokens",
	"output-tokens": "output_tokens", "completion-tokens": "output_tokens",
}

// resourceOrder is the order of the resources of agent results; all others follow.
var resourceOrder = map[string]int{"requests": 0, "tokens": 1, "input_tokens": 2, "output_tokens": 3}

func resourceRank(resource string) int {
	if rank, known := resourceOrder[resource]; known {
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
var informative = map[string]bool{
	"tokens-query-cost": true, "query-cost": true, "over-limit": true, "abusepenalty-active": true, "key": true,
	"type": true, "timeremaining": true, "used": true, "resource": true, "scope": true, "bucket": true, "global": true,
	"policy": true,
}

// fields are the parts of a window by the words that name them.
var fields = map[string]field{
	"limit": fieldLimit, "remaining": fieldRemaining, "reset": fieldReset, "renewalperiod": fieldPeriod,
}

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
		if informative[rest] || strings.HasPrefix(rest, "used-") {
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
	part, found := fields[words[0]]
	if found {
		words = words[1:]
	} else if part, found = fields[words[len(words)-1]]; found {
		words = words[:len(words)-1]
	}
	if !found || len(rest) > maxName {
		return key{}, false
	}
	if part == fieldReset && len(words) == 1 && words[0] == "after" {
		words = nil
	}
	k := key{family: f, field: part}
	if n := len(words); n > 0 {
		if k.period = periodWords[words[n-1]]; k.period > 0 {
			words = words[:n-1]
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

// resourceOf is the name and the resource of the words that a header has for it.
func resourceOf(words []string, f family) (base, resource string) {
	joined := strings.Join(words, "-")
	if resource = resourceWords[joined]; resource != "" {
		return resource, resource
	}
	if joined == "" {
		if f == bySize || f == xTokenLimit {
			return "tokens", "tokens"
		}
		return "requests", "requests"
	}
	base = strings.ReplaceAll(joined, "-", "_")
	counts := [...]struct{ word, also, resource string }{
		{"token", "input", "input_tokens"}, {"token", "prompt", "input_tokens"}, {"token", "output", "output_tokens"},
		{"token", "generated", "output_tokens"}, {"token", "completion", "output_tokens"},
		{"token", "", "tokens"}, {"request", "", "requests"},
	}
	for _, c := range counts {
		if strings.Contains(base, c.word) && strings.Contains(base, c.also) {
			return base, c.resource
		}
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
