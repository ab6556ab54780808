package ratelimit

import (
	"fmt"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

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
	named  bool
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
		name, ok := policyName(m)
		if !ok || m.params["r"]+m.params["t"] == "" {
			r.ignore(ietfState, m.text, "neither a named limit nor limit, remaining and reset")
			continue
		}
		k := key{family: ietfNamed, base: name, resource: unitOf(name, policies)}
		r.addFact(k, fieldRemaining, ietfState, m.params["r"])
		r.addFact(k, fieldReset, ietfState, m.params["t"])
	}
}

// policy reads the limit of a named policy, and its period. An unnamed policy has only the period of
// RateLimit-Limit.
func (r *reader) policy(p member) {
	if name, ok := policyName(p); ok && p.params["q"] != "" {
		k := key{family: ietfNamed, base: name, resource: unitOf(name, []member{p})}
		r.addFact(k, fieldLimit, ietfPolicy, p.params["q"])
		r.addFact(k, fieldPeriod, ietfPolicy, p.params["w"])
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
		r.addFact(k, f, ietfState, m.params[string(f)])
	}
}

// isDictionary reports whether a member has the form of the seventh draft.
func (m member) isDictionary() bool {
	return m.head == "" && m.params["limit"]+m.params["remaining"]+m.params["reset"] != ""
}

func (r *reader) addFact(k key, f field, header, value string) {
	if value == "" {
		return
	}
	k.field = f
	r.facts = append(r.facts, fact{key: k, header: header, value: value})
}

// kindBefore stands between the kind of a policy and its name at Hugging Face: `"fixed window";"api";q=1000`.
const kindBefore = `";"`

// members reads all values of a field as one list. A dictionary of the seventh draft becomes one member
// without a head.
func (r *reader) members(name string, h httphint.Headers) []member {
	var out []member
	for _, value := range h[name] {
		if len(value) > httphint.MaxValue {
			r.ignore(name, value, "too long")
			continue
		}
		list, err := httpsfv.UnmarshalList([]string{value})
		if _, named, twice := strings.Cut(value, kindBefore); twice && err != nil {
			list, err = httpsfv.UnmarshalList([]string{`"` + named})
		}
		for _, m := range list {
			if item, ok := m.(httpsfv.Item); ok {
				out = append(out, memberOf(item))
			}
		}
		dictionary, unread := httpsfv.UnmarshalDictionary([]string{value})
		switch {
		case err == nil:
		case unread == nil:
			out = append(out, memberOfDictionary(dictionary, value))
		default:
			r.ignore(name, value, "not a structured field")
		}
	}
	return out[:min(len(out), maxMembers)]
}

func memberOf(item httpsfv.Item) member {
	m := member{head: textOf(item.Value), params: map[string]string{}}
	for _, name := range item.Params.Names() {
		v, _ := item.Params.Get(name)
		m.params[name] = textOf(v)
	}
	switch item.Value.(type) {
	case string, httpsfv.Token:
		m.named = true
	}
	m.text, _ = httpsfv.Marshal(item)
	return m
}

func memberOfDictionary(d *httpsfv.Dictionary, text string) member {
	m := member{params: map[string]string{}, text: text}
	for _, f := range [...]field{fieldLimit, fieldRemaining, fieldReset} {
		v, _ := d.Get(string(f))
		if item, ok := v.(httpsfv.Item); ok {
			m.params[string(f)] = textOf(item.Value)
		}
	}
	return m
}

// textOf returns a value of a structured field as text: the characters of a string, not its quotation marks.
func textOf(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// policyName returns the server's name of a policy: a string or a token.
func policyName(m member) (string, bool) {
	odd := func(c rune) bool { return c < ' ' || c > '~' }
	return m.head, m.named && m.head != "" && len(m.head) <= maxName && !strings.ContainsFunc(m.head, odd)
}

// unitOf returns the resource of a policy: its quota unit, or "requests".
func unitOf(name string, policies []member) string {
	for _, p := range policies {
		if n, _ := policyName(p); n == name && p.params["qu"] != "" && len(p.params["qu"]) <= maxName {
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
