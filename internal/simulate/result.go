package simulate

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Result is what became of a fleet. Numbers that are not whole are rounded to four places.
type Result struct {
	// Calls arrived at the provider, with all attempts, and Rejected of them were refused for its limits.
	Calls         int64   `json:"calls"`
	Rejected      int64   `json:"rejected"`
	RejectedShare float64 `json:"rejected_share"`
	// SessionsLost ended because the policy allowed a call no further attempt, or the limiter denied it.
	SessionsLost int64 `json:"sessions_lost"`
	// Makespan is the time from the first arrival to the last end, in milliseconds.
	Makespan int64 `json:"makespan_ms"`
	// Utilisation is the share of calls served, of those that the limits allow in that time without the
	// outages.
	Utilisation float64 `json:"utilisation"`
	// Overshoot is the number of calls above the limit in the worst window.
	Overshoot int64 `json:"overshoot"`
	// CallsInOutage were in flight when an outage began, or were made in it.
	CallsInOutage int64 `json:"calls_in_outage"`
	// PeakRateAfterOutage is the calls in the worst second after the first outage, as a part of the limit; 0
	// without an outage.
	PeakRateAfterOutage float64 `json:"peak_rate_after_outage"`
	// Unfairness is the longest time of a session as a multiple of the shortest one, among those that arrived
	// in the same tenth of the arrivals and were not lost; in the worst tenth. It is 0 if all were lost.
	Unfairness float64 `json:"unfairness"`

	// Seconds is what the provider saw, second by second.
	Seconds []Second `json:"-"`
}

func (r *run) result() Result {
	first, last := r.sessions[0].arrived, int64(0)
	out := Result{
		Calls: r.arrived, Rejected: r.refusals, CallsInOutage: r.inOutage, Seconds: r.seconds,
		RejectedShare: share(r.refusals, r.arrived), Unfairness: r.unfairness(),
	}
	for _, s := range r.sessions {
		last = max(last, s.left)
		if s.lost {
			out.SessionsLost++
		}
	}
	out.Makespan = (last - first) / int64(time.Millisecond)
	rate := float64(r.provider.rate) / 1e6
	open := last - first
	ended := int64(0) // of the first outage
	for _, o := range r.Provider.Outages {
		open -= max(min(last, int64(o.At+o.For))-max(first, int64(o.At)), 0)
		if ended == 0 {
			ended = int64(o.At + o.For)
		}
	}
	if open > 0 {
		// A short run may have served a window more than its time allows.
		out.Utilisation = min(round(float64(r.served)/(rate*float64(open)/float64(time.Second))), 1)
	}
	w := r.provider.tightest()
	out.Overshoot = max(r.worst(0, w.span)-w.limit, 0)
	if ended > 0 {
		out.PeakRateAfterOutage = share(r.worst(ended, w.span), w.limit)
	}
	return out
}

// unfairness compares the sessions of each tenth of the arrivals.
func (r *run) unfairness() (worst float64) {
	var shortest, longest [10]int64
	for _, s := range r.sessions {
		tenth := min(s.arrived*10/max(int64(r.ArriveOver), 1), 9)
		if took := s.left - s.arrived; !s.lost {
			longest[tenth] = max(longest[tenth], took)
			if shortest[tenth] == 0 || took < shortest[tenth] {
				shortest[tenth] = took
			}
		}
	}
	for n := range shortest {
		if shortest[n] > 0 {
			worst = max(worst, share(longest[n], shortest[n]))
		}
	}
	return worst
}

func share(part, all int64) float64 { return round(float64(part) / float64(max(all, 1))) }

// round rounds to four places.
func round(f float64) float64 { return float64(int64(f*10_000+0.5)) / 10_000 }

// Played is the result of one limiter.
type Played struct {
	Limiter string `json:"limiter"`
	Result  Result `json:"result"`
}

// Table shows results as text, a line for each limiter.
func Table(all []Played) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "limiter\tcalls\trefused\tlost\tmakespan\tutilisation\tovershoot\tin outage\tpeak "+
		"after\tunfairness")
	for _, one := range all {
		r := one.Result
		fmt.Fprintf(w, "%s\t%d\t%.1f %%\t%d\t%.1f s\t%.1f %%\t%d\t%d\t%.2f\t%.2f\n", one.Limiter, r.Calls,
			100*r.RejectedShare,
			r.SessionsLost, float64(r.Makespan)/1000, 100*r.Utilisation, r.Overshoot, r.CallsInOutage,
			r.PeakRateAfterOutage, r.Unfairness)
	}
	_ = w.Flush() // a strings.Builder does not fail
	return text.String()
}
