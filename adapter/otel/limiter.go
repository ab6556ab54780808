package otel

import (
	"context"
	"errors"
	"time"

	global "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop/machine"
)

// The gauges of a limiter: see [WatchLimiter].
const (
	// LimiterWaiting is how many calls wait, and LimiterInFlight how many were granted and not settled.
	LimiterWaiting  = "retake.limiter.waiting"
	LimiterInFlight = "retake.limiter.in_flight"
	// LimiterPace is the present pace in calls a second. A limiter with a store has that of the store. There
	// is none while the limiter is open: see [limit.Config].
	LimiterPace = "retake.limiter.pace"
	// LimiterBreaker is 1 while the breaker is open, else 0, and LimiterStoreLost 1 while the store of the
	// limiter cannot be reached.
	LimiterBreaker   = "retake.limiter.breaker.open"
	LimiterStoreLost = "retake.limiter.store.lost"
	// LimiterWindow is the limit of a window, and LimiterQuota what is left of a long one, by resource.
	LimiterWindow = "retake.limiter.window.limit"
	LimiterQuota  = "retake.limiter.quota.left"
)

// outcomeOf returns the value of retake.limiter.outcome.
func outcomeOf(g *machine.Grant) string {
	switch {
	case g.Denied != "":
		return string(g.Denied)
	case g.Probe:
		return "probe"
	}
	return "granted"
}

// WatchLimiter exports how each scope of a limiter is, whenever metrics are read, until stop is called. A nil
// provider is OpenTelemetry's global one. Names of scopes beyond maxNames are left out; 0 means
// [DefaultMaxNames]. The error is that of the meter, or says that maxNames is below 0.
func WatchLimiter(
	l *limiter.Limiter, provider metric.MeterProvider, maxNames int,
) (stop func() error, err error) {
	if err := (Config{MaxNames: maxNames}).Validate(); err != nil {
		return nil, err
	}
	if provider == nil {
		provider = global.GetMeterProvider()
	}
	w := &watched{scopes: firstNames(Config{MaxNames: maxNames}.maxNames()),
		gauges: map[string]metric.Float64Observable{}}
	m := provider.Meter(Scope, metric.WithSchemaURL(SchemaURL),
		metric.WithInstrumentationVersion(scopeVersion()))
	var all []metric.Observable
	var errs []error
	for _, g := range []struct{ name, unit, is string }{
		{LimiterWaiting, "{call}", "Calls that wait for a limiter."},
		{LimiterInFlight, "{call}", "Calls that a limiter granted and that have not ended."},
		{LimiterPace, "{call}/s", "Pace of a limiter."},
		{LimiterBreaker, "{breaker}", "Whether the breaker of a limiter is open."},
		{LimiterStoreLost, "{store}", "Whether the store of a limiter cannot be reached."},
		{LimiterWindow, "{unit}", "Limit of a window that a limiter keeps."},
		{LimiterQuota, "{unit}", "What is left of a long window that a limiter counts down."},
	} {
		gauge, err := m.Float64ObservableGauge(g.name, metric.WithUnit(g.unit), metric.WithDescription(g.is))
		w.gauges[g.name], all, errs = gauge, append(all, gauge), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	registered, err := m.RegisterCallback(func(_ context.Context, to metric.Observer) error {
		for _, s := range l.Scopes() {
			w.observe(to, &s)
		}
		return nil
	}, all...)
	if err != nil {
		return nil, err
	}
	return registered.Unregister, nil
}

// watched are the gauges of a limiter, by name.
type watched struct {
	scopes *names
	gauges map[string]metric.Float64Observable
}

func (w *watched) observe(to metric.Observer, s *limiter.Status) {
	name := w.scopes.of(s.Scope)
	if name == Other { // of several scopes only one would be seen
		return
	}
	scope := limiterScope.String(name)
	st := &s.State
	if st.Config.Shared {
		st = &s.Above
	}
	set := func(gauge string, v float64) {
		to.ObserveFloat64(w.gauges[gauge], v, metric.WithAttributes(scope))
	}
	set(LimiterWaiting, float64(s.Waiting))
	set(LimiterInFlight, float64(s.State.InFlight))
	if !st.Open {
		set(LimiterPace, float64(st.Pace)/1000)
	}
	set(LimiterBreaker, flag(st.Breaker.Open))
	set(LimiterStoreLost, flag(s.StoreLost))
	for _, win := range st.Windows {
		to.ObserveFloat64(w.gauges[LimiterWindow], float64(win.Limit), metric.WithAttributes(scope,
			limiterResource.String(win.Resource), limiterPeriod.Float64(time.Duration(win.Period).Seconds())))
	}
	for _, q := range st.Quotas {
		to.ObserveFloat64(w.gauges[LimiterQuota], float64(q.Left),
			metric.WithAttributes(scope, limiterResource.String(q.Resource)))
	}
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
