package console

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// Limits tells how the scopes of a limiter are, as [limiter.Limiter] does.
type Limits interface{ Scopes() []limiter.Status }

// limitsView is the page of limits.
type limitsView struct {
	nav
	Now    string
	Scopes []scopeView
}

// scopeView is how one scope is, in words.
type scopeView struct {
	Name, Breaker, Pace, Windows string
	Waiting                      int
	InFlight, Leased             int64
}

// limits writes the page of limits. Browsers ask for it again and again by themselves.
func (c *Console) limits(w http.ResponseWriter, _ *http.Request) {
	v := limitsView{nav: c.nav("limits"), Now: c.clock.Now().UTC().Format("15:04:05")}
	for _, s := range c.settings.Limits.Scopes() {
		v.Scopes = append(v.Scopes, c.scopeOf(&s))
	}
	w.Header().Set("Refresh", "2")
	show(w, http.StatusOK, "limits", v)
}

// scopeOf says how a scope is. One with a store keeps to the pace, windows and breaker of the store.
func (c *Console) scopeOf(s *limiter.Status) scopeView {
	st := &s.State
	if st.Config.Shared && !s.StoreLost {
		st = &s.Above
	}
	v := scopeView{
		Name: brief(c.scrub(s.Scope)), Waiting: s.Waiting, InFlight: s.State.InFlight, Breaker: "closed",
		Pace: fmt.Sprintf("%.3g calls a second", float64(st.Pace)/1000), Windows: windowsOf(st),
	}
	if st.Open {
		v.Pace = "any, until a retry is refused"
	}
	for _, slot := range s.State.Slots {
		v.Leased += slot.Calls
	}
	if b := &st.Breaker; b.Open {
		v.Breaker = "open since " + clock(time.Unix(0, b.Since))
	}
	if s.StoreLost {
		v.Breaker += "; the store cannot be reached"
	}
	return v
}

// windowsOf says what limits are known: those that are kept, and what is left of long ones.
func windowsOf(st *limit.State) string {
	var all []string
	for _, w := range st.Windows {
		all = append(all, fmt.Sprintf("%d %s in %v", w.Limit, words(w.Resource), time.Duration(w.Period)))
	}
	for _, q := range st.Quotas {
		all = append(all, fmt.Sprintf("%d %s left until %s", q.Left, words(q.Resource),
			clock(time.Unix(0, q.Reset))))
	}
	if len(all) == 0 {
		return "none known"
	}
	return strings.Join(all, ", ")
}

// words is the name of a resource for people.
func words(resource string) string { return strings.ReplaceAll(resource, "_", " ") }
