package ratelimit

import (
	"strings"
	"time"

	"github.com/retake-go/retake/internal/httphint"
)

// The fields of draft-ietf-httpapi-ratelimit-headers since its seventh version.
const (
	ietfState  = "ratelimit"
	ietfPolicy = "ratelimit-policy"
)

func isIETF(name string) bool { return name == ietfState || name == ietfPolicy }

// maxMembers is the most members of one field.
const maxMembers = 32

// member is one entry of a structured list: a name or a bare number, with parameters.
type member struct {
	head   string
	params map[string]string
	text   string
}

// ietf reads RateLimit and RateLimit-Policy: `"burst";r=0;t=30` with `"burst";q=100;w=60` since the eighth
// draft, `limit=100, remaining=0, reset=30` with `100;w=60` in the seventh. Policies of older drafts
// accompany RateLimit-Limit and give its period.
func (r *reader) ietf(h httphint.Headers) {
	policies := r.members(ietfPolicy, h)
	for _, p := range policies {
		r.policy(p)
	}
	for _, m := range r.members(ietfState, h) {
		if m.isDictionary() {
			r.dictionary(m, policies)
			continue
		}
		name, ok := policyName(m.head)
		if !ok || m.params["r"]+m.params["t"] == "" {
			r.ignore(ietfState, m.text, "neither a named limit nor limit, remaining and reset")
			continue
		}
		k := key{family: ietfField, base: name, resource: unitOf(name, policies)}
		r.tell(k, fieldRemaining, ietfState, m.params["r"])
		r.tell(k, fieldReset, ietfState, m.params["t"])
	}
}

// policy reads the limit of a named policy. An unnamed policy has only the period of RateLimit-Limit.
func (r *reader) policy(p member) {
	if name, ok := policyName(p.head); ok && p.params["q"] != "" {
		r.tell(key{family: ietfField, base: name, resource: unitOf(name, []member{p})}, fieldLimit,
			ietfPolicy, p.params["q"])
		return
	}
	if _, err := httphint.Count(p.head); err != nil {
		r.ignore(ietfPolicy, p.text, "neither a named policy nor a quota")
		return
	}
	for _, f := range r.facts {
		if f.family == ietfLegacy && f.field == fieldLimit && firstItem(f.value) == p.head {
			r.setPeriod(ietfLegacy, f.base, periodOf(p))
			return
		}
	}
}

// dictionary reads the form of the seventh draft.
func (r *reader) dictionary(m member, policies []member) {
	k := key{family: ietfField, base: "requests", resource: "requests"}
	for _, p := range policies {
		if p.head == m.params["limit"] {
			k.period = periodOf(p)
			break
		}
	}
	for _, f := range [...]field{fieldLimit, fieldRemaining, fieldReset} {
		r.tell(k, f, ietfState, m.params[string(f)])
	}
}

// isDictionary reports whether a member has the form of the seventh draft.
func (m member) isDictionary() bool {
	return m.head == "" && m.params["limit"]+m.params["remaining"]+m.params["reset"] != ""
}

func (r *reader) tell(k key, f field, header, value string) {
	if value == "" {
		return
	}
	k.field = f
	r.facts = append(r.facts, fact{k, header, value})
}

// members reads all values of a field as one list. A dictionary of the seventh draft becomes one member
// without a head.
func (r *reader) members(name string, h httphint.Headers) []member {
	var out []member
	for _, value := range h[name] {
		if len(value) > httphint.MaxValue {
			r.ignore(name, value, "too long")
			continue
		}
		dictionary := member{params: map[string]string{}, text: value}
		for _, item := range splitOutsideQuotes(value, ',') {
			m := parseMember(item)
			if !m.isDictionary() {
				out = append(out, m)
				continue
			}
			for _, f := range [...]string{"limit", "remaining", "reset"} {
				if v := m.params[f]; v != "" {
					dictionary.params[f] = v
				}
			}
		}
		if len(dictionary.params) > 0 {
			out = append(out, dictionary)
		}
	}
	return out[:min(len(out), maxMembers)]
}

func parseMember(item string) member {
	m := member{params: map[string]string{}, text: strings.TrimSpace(item)}
	for i, part := range splitOutsideQuotes(item, ';') {
		name, value, pair := strings.Cut(strings.TrimSpace(part), "=")
		if i == 0 && (!pair || strings.HasPrefix(name, `"`)) {
			m.head = strings.TrimSpace(part)
			continue
		}
		m.params[strings.ToLower(strings.TrimSpace(name))] = unquoted(strings.TrimSpace(value))
	}
	return m
}

func splitOutsideQuotes(s string, separator byte) []string {
	var out []string
	start, quoted, escaped := 0, false, false
	for i := range len(s) {
		switch {
		case escaped:
			escaped = false
		case quoted && s[i] == '\\': // in a string, a backslash escapes the next character, itself too
			escaped = true
		case s[i] == '"':
			quoted = !quoted
		case s[i] == separator && !quoted:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

// unquoted returns what a string says, or a token as it is.
func unquoted(s string) string {
	inner, ok := strings.CutPrefix(s, `"`)
	if !ok {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(inner) && inner[i] != '"'; i++ {
		if inner[i] == '\\' && i+1 < len(inner) {
			i++
		}
		b.WriteByte(inner[i])
	}
	return b.String()
}

// policyName returns the server's name of a policy: a quoted name, or a bare word that is not a number.
func policyName(head string) (string, bool) {
	name := unquoted(head)
	odd := func(c rune) bool { return c < ' ' || c > '~' }
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, odd) {
		return "", false
	}
	if _, err := httphint.Count(name); err == nil && !strings.HasPrefix(head, `"`) {
		return "", false
	}
	return name, true
}

// unitOf returns the resource of a policy: its quota unit, or "requests".
func unitOf(name string, policies []member) string {
	for _, p := range policies {
		if n, _ := policyName(p.head); n == name && p.params["qu"] != "" && len(p.params["qu"]) <= maxName {
			return strings.ReplaceAll(strings.ToLower(p.params["qu"]), "-", "_")
		}
	}
	return "requests"
}

func periodOf(p member) period {
	seconds, err := httphint.Count(p.params["w"])
	if err != nil || seconds > int64(httphint.MaxWait/time.Second) {
		return 0
	}
	return period(seconds)
}

// firstItem returns the limit of a value that also lists policies ("10, 10;w=1, 50;w=60"). A comma inside a
// number does not separate.
func firstItem(value string) string {
	if !strings.Contains(value, ";") && !strings.Contains(value, ", ") {
		return strings.TrimSpace(value)
	}
	first, _, _ := strings.Cut(value, ",")
	first, _, _ = strings.Cut(first, ";")
	return strings.TrimSpace(first)
}
