package simulate

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

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
