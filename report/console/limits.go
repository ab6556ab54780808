package console

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/report/internal/told"
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
	Name, Breaker, Pace, Windows, InFlight, Leased string
	Waiting                                        int
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

// scopeOf says how a scope is. One with a store keeps to the pace, windows and breaker of the store, or to a
// part of them where that is lost.
func (c *Console) scopeOf(s *limiter.Status) scopeView {
	st := &s.State
	if st.Config.Shared {
		st = &s.Above
	}
	v := scopeView{
		Name: brief(c.scrub(s.Scope)), Waiting: s.Waiting, Breaker: "closed", Windows: windowsOf(st),
		Pace: fmt.Sprintf("%.3g calls a second", float64(st.Pace)/1000),
	}
	if st.Open {
		v.Pace = "any, until a retry is refused"
	}
	if b := &st.Breaker; b.Open {
		v.Breaker = "open since " + clock(time.Unix(0, b.Since))
	}
	switch {
	case s.StoreLost && st.Config.Parts > 0:
		v.Breaker += fmt.Sprintf("; the store is lost: this process keeps to 1/%d", st.Config.Parts)
	case s.StoreLost:
		v.Breaker = "the store cannot be read"
	}
	v.InFlight, v.Leased = leasesOf(s)
	return v
}

// leasesOf says how many calls are in flight, and how many were lent. A process knows which of its leases are
// unused; a record in a store has what was lent to all processes, and cannot tell.
func leasesOf(s *limiter.Status) (inFlight, leased string) {
	if s.Processes > 0 && !s.State.Config.Shared {
		return fmt.Sprint("at most ", s.State.InFlight),
			fmt.Sprintf("%d, to %s", s.State.InFlight, several.Of(s.Processes, "process"))
	}
	unused := int64(0)
	for _, slot := range s.State.Slots {
		unused += slot.Calls
	}
	if leased = "none"; s.State.Config.Shared {
		leased = fmt.Sprintf("%d unused; shared by %s", unused, several.Of(max(s.Processes, 1), "process"))
	}
	return fmt.Sprint(s.State.InFlight), leased
}

// windowsOf says what limits are known: those that are kept, and what is left of long ones.
func windowsOf(st *limit.State) string {
	var all []string
	for _, w := range st.Windows {
		all = append(all, fmt.Sprintf("%d %s in %v", w.Limit, told.Words(w.Resource), time.Duration(w.Period)))
	}
	for _, q := range st.Quotas {
		all = append(all, fmt.Sprintf("%d %s left until %s", q.Left, told.Words(q.Resource),
			clock(time.Unix(0, q.Reset))))
	}
	if len(all) == 0 {
		return "none known"
	}
	return strings.Join(all, ", ")
}
