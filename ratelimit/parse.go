package ratelimit

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/httphint"
)

// The most windows and ignored entries of a State.
const (
	maxWindows = 64
	maxIgnored = 64
)

// Parse parses the rate limits of a response. Headers may be in any case and order (an http.Header fits). now
// is the time of the response; if it is zero, dates cannot become waits, nor waits dates. Parse never fails
// and does not keep its arguments.
func Parse(headers map[string][]string, now time.Time) State {
	return Response{Headers: headers, At: now}.Limits()
}

// Limits is [Parse] with all that is known of a response.
func (resp Response) Limits() State {
	body, _ := httphint.ParseJSON(resp.Body)
	folded := foldAll(resp.Headers, body)
	provider := strings.ToLower(strings.TrimSpace(resp.Provider))
	r := reader{now: resp.At, provider: cmp.Or(provider, providerOf(folded))}
	for _, name := range folded.Names() {
		r.header(name, folded[name])
	}
	r.ietf(folded)
	r.periods()
	r.quota(body)
	var s State
	if resp.RetryAfter.Duration >= 0 {
		s.RetryAfter = resp.RetryAfter
	}
	s.Windows, s.Wait = r.windows()
	s.Limited = slices.ContainsFunc(s.Windows, Window.Exhausted)
	if r.retryAfter(&s, folded, body, resp.Body); s.RetryAfter.Known {
		s.Wait = Span{}
	}
	s.Ignored = r.ignoredSorted()
	return s
}

// relevant reports whether a header with this lower-case name is about rate limits or the provider.
func relevant(name string) bool {
	return slices.ContainsFunc([]string{
		"ratelimit", "rate-limit", "retry-after", "tokenlimit", "-endpoint-", "anthropic-priority-",
		"anthropic-fast-", "x-groq-",
	}, func(part string) bool { return strings.Contains(name, part) })
}

// providerOf returns the provider if its headers identify it.
func providerOf(h httphint.Headers) string {
	for _, name := range h.Names() {
		if strings.HasPrefix(name, "x-groq-") {
			return "groq"
		}
		if strings.HasPrefix(name, "x-ratelimit-") && strings.Contains(name, "-req-") {
			return "mistral"
		}
	}
	return ""
}

// fact is one header about a window. unit is that of a reset, if its value has none and counts no seconds.
type fact struct {
	key
	header string
	value  string
	unit   string
}

// reader collects the headers and the body.
type reader struct {
	now      time.Time
	provider string
	facts    []fact
	ignored  []Ignored
}

func (r *reader) ignore(header, value, why string) {
	r.ignored = append(r.ignored, Ignored{Header: clip(header), Value: clip(value), Why: why})
}

func (r *reader) header(header string, values []string) {
	name := strings.TrimPrefix(header, "llm_provider-")
	if httphint.IsWait(name) || isIETF(name) || !limitLike(name) {
		return
	}
	k, ok, known := recognise(name)
	for _, v := range values {
		switch {
		case ok && len(v) > httphint.MaxValue:
			r.ignore(header, v, "too long")
		case ok:
			r.facts = append(r.facts, fact{key: k, header: header, value: v})
		case !known:
			r.ignore(header, v, "not known")
		}
	}
}

func limitLike(name string) bool {
	_, fixed := fixedNames[name]
	return fixed ||
		relevant(name) && !strings.HasPrefix(name, "x-groq-") && !strings.Contains(name, "-endpoint-")
}

// periods sets the period of windows from other headers or the provider.
func (r *reader) periods() {
	for _, p := range r.facts {
		if p.field != fieldPeriod {
			continue
		}
		seconds, err := httphint.Count(p.value)
		if err != nil || seconds == 0 || seconds > int64(httphint.MaxWait/time.Second) {
			r.ignore(p.header, p.value, "not a number of seconds")
			continue
		}
		r.setPeriod(p.family, p.base, period(seconds))
		r.setUnit(p.key, seconds)
	}
	if r.provider == "groq" {
		r.setPeriod(xRateLimit, "requests", 86400)
		r.setPeriod(xRateLimit, "tokens", 60)
	}
}

func (r *reader) setPeriod(f family, base string, p period) {
	for i := range r.facts {
		if k := &r.facts[i].key; k.family == f && k.base == base && k.period == 0 {
			k.period = p
		}
	}
}

// millis are the milliseconds of a second.
const millis = 1000

// setUnit marks the resets of a window of so many seconds that count milliseconds. Azure's deployments count
// either, and no window resets later than its period.
func (r *reader) setUnit(k key, seconds int64) {
	for i := range r.facts {
		f := &r.facts[i]
		if f.family != k.family || f.base != k.base || f.field != fieldReset {
			continue
		}
		if n, err := httphint.Count(f.value); err == nil && n > seconds && n <= seconds*millis {
			f.unit = "ms"
		}
	}
}

// windows groups the facts into sorted windows. wait is the longest time until an exhausted window resets, or
// its period if nothing says when.
func (r *reader) windows() (all []Window, wait Span) {
	slices.SortStableFunc(r.facts, func(a, b fact) int { return compareKeys(a.key, b.key) })
	all = []Window{}
	var periods []period
	var unnamed Window
	for len(r.facts) > 0 {
		k := r.facts[0].key
		end := slices.IndexFunc(r.facts, func(f fact) bool { return compareKeys(k, f.key) != 0 })
		if end < 0 {
			end = len(r.facts)
		}
		group := r.facts[:end]
		r.facts = r.facts[end:]
		w, some := r.window(k, group)
		at := slices.IndexFunc(all, func(o Window) bool { return o.Name == w.Name })
		if (k.family == ietfLegacy || k.family == xPlain) && k.period == 0 && !unnamed.resets() {
			unnamed = w
		}
		if at >= 0 && !all[at].resets() {
			all[at].ResetsIn, all[at].ResetAt = w.ResetsIn, w.ResetAt
			group = slices.DeleteFunc(group, func(f fact) bool { return f.field == fieldReset })
		}
		if at >= 0 || len(all) == maxWindows {
			r.ignoreAll(group, "window "+w.Name+" is told by another header")
		} else if some {
			all, periods = append(all, w), append(periods, k.period)
		}
	}
	for n := range all {
		all[n].resetWith(unnamed, periods[n])
		wait = wait.longer(all[n].lasts(periods[n]))
	}
	return all, wait
}

// resets reports whether it is known when a window resets.
func (w *Window) resets() bool { return w.ResetsIn.Known || !w.ResetAt.Time.IsZero() }

// resetWith gives an exhausted window without a reset that of the unnamed window. Gateways such as Kong send
// an unnamed reset with the limit of its window. A reset after the end of the period belongs to another
// window.
func (w *Window) resetWith(unnamed Window, p period) {
	other := unnamed.Limit.Known && w.Limit != unnamed.Limit
	if !w.Exhausted() || w.resets() || other || p > 0 && unnamed.ResetsIn.Duration > p.length() {
		return
	}
	w.ResetsIn, w.ResetAt = unnamed.ResetsIn, unnamed.ResetAt
}

// lasts returns how long a window is exhausted: until it resets, or for its period if nothing says when.
func (w *Window) lasts(p period) Span {
	switch {
	case !w.Exhausted() || w.Limit == Of(0): // a limit of 0 never resets
		return Span{}
	case w.resets():
		return w.ResetsIn
	}
	return Span{Duration: p.length(), Known: p > 0}
}

func (r *reader) ignoreAll(group []fact, why string) {
	for _, f := range group {
		r.ignore(f.header, f.value, why)
	}
}

func compareKeys(a, b key) int {
	return cmp.Or(
		cmp.Compare(a.family, b.family),
		cmp.Compare(resourceRank(a.resource), resourceRank(b.resource)),
		cmp.Compare(a.resource, b.resource),
		cmp.Compare(a.period, b.period),
		cmp.Compare(a.base, b.base),
	)
}

// window makes a window of all facts about it. It returns false if nothing is known.
func (r *reader) window(k key, group []fact) (Window, bool) {
	w := Window{Name: k.name(), Resource: k.resource}
	if k.family == ietfNamed && k.period > 0 {
		w.Period = Span{Duration: k.period.length(), Known: true}
	}
	for _, f := range group {
		switch f.field {
		case fieldLimit:
			r.count(&w.Limit, f)
		case fieldRemaining:
			r.count(&w.Remaining, f)
		case fieldReset:
			r.reset(&w, f)
		case fieldStatus:
			if strings.EqualFold(f.value, "rejected") {
				w.Remaining = Of(0)
			}
		}
	}
	if w.Limit == Of(0) && r.provider != "mistral" && k.family != bodyQuota {
		w.Limit = Count{}
		if w.Remaining == Of(0) {
			w.Remaining = Count{}
		}
		r.ignoreAll(slices.DeleteFunc(slices.Clone(group),
			func(f fact) bool { return f.field != fieldLimit }), "0 stands for unknown")
	}
	return w, w.Limit.Known || w.Remaining.Known || w.resets()
}

// count parses a limit or remainder. The smallest value wins.
func (r *reader) count(c *Count, f fact) {
	text := f.value
	if f.field == fieldLimit {
		text = firstItem(text)
	}
	n, err := httphint.Count(text)
	switch {
	case strings.TrimSpace(text) == "-1":
		r.ignore(f.header, f.value, "-1 stands for unknown")
	case err != nil:
		r.ignore(f.header, f.value, err.Error())
	case c.Known && n == c.N:
	case c.Known && n > c.N:
		r.ignore(f.header, f.value, "a smaller value counts")
	default:
		*c = Of(n)
	}
}

// reset parses when a window resets. The latest value wins.
func (r *reader) reset(w *Window, f fact) {
	m, err := httphint.Reset(f.value+f.unit, r.now)
	if err != nil {
		r.ignore(f.header, f.value, err.Error())
		return
	}
	in := Span{Duration: m.In, Known: m.HasIn}
	if in == w.ResetsIn && m.At.Equal(w.ResetAt.Time) {
		return
	}
	later := m.At.After(w.ResetAt.Time) || m.HasIn && w.ResetsIn.Known && m.In > w.ResetsIn.Duration
	if w.resets() && !later {
		r.ignore(f.header, f.value, "a later value counts")
		return
	}
	w.ResetsIn, w.ResetAt = in, Date{m.At}
}

// retryAfter sets the wait that was asked for: by the caller, the headers or the body, in this order.
func (r *reader) retryAfter(s *State, h httphint.Headers, body httphint.Node, raw []byte) {
	wait, asked, unread := httphint.Wait(h, r.now)
	for _, u := range unread {
		r.ignore(u.Header, u.Value, u.Why)
	}
	if s.RetryAfter.Known {
		return
	}
	if !asked && body.Is() {
		wait, asked = httphint.BodyWait(body)
	} else if !asked {
		wait, asked = httphint.TextWait(string(raw[:min(len(raw), httphint.MaxText)]))
	}
	if asked {
		s.RetryAfter = In(wait)
	}
}

func (r *reader) ignoredSorted() []Ignored {
	slices.SortFunc(r.ignored, func(a, b Ignored) int {
		return cmp.Or(cmp.Compare(a.Header, b.Header), cmp.Compare(a.Value, b.Value),
			cmp.Compare(a.Why, b.Why))
	})
	out := append([]Ignored{}, slices.Compact(r.ignored)...)
	return out[:min(len(out), maxIgnored)]
}
