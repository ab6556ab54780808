package otel_test

import (
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/retake-go/retake/adapter/otel"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
)

func TestALimiterIsSeen(t *testing.T) {
	l, err := limiter.New(limiter.Config{Limit: limit.Config{
		Windows:  []limit.Window{{Resource: "requests", Limit: 60, Period: time.Minute}},
		Failures: 1, Concurrency: 1,
	}})
	require.NoError(t, err)
	b := &backend{registry: prom.NewRegistry()}
	exporter, err := prometheus.New(prometheus.WithRegisterer(b.registry), prometheus.WithoutScopeInfo(), prometheus.WithoutTargetInfo())
	require.NoError(t, err)
	_, err = otel.WatchLimiter(l, nil, -1)
	require.ErrorContains(t, err, "MaxNames: must be at least 1")
	stop, err := otel.WatchLimiter(l, metric.NewMeterProvider(metric.WithReader(exporter)), 1)
	require.NoError(t, err)
	assert.Empty(t, b.scrape(t))

	first, known := l.Ask(limiter.Ask{Scope: "search"}, func(limiter.Answer) {})
	require.True(t, known)
	second, known := l.Ask(limiter.Ask{Scope: "search"}, func(limiter.Answer) {})
	require.False(t, known)
	lines := b.scrape(t)
	for _, want := range []string{
		`retake_limiter_waiting{retake_limiter_scope="search"} 1`,
		`retake_limiter_in_flight{retake_limiter_scope="search"} 1`,
		`retake_limiter_breaker_open{retake_limiter_scope="search"} 0`,
		`retake_limiter_store_lost{retake_limiter_scope="search"} 0`,
		`retake_limiter_window_limit{retake_limiter_period_seconds="60",retake_limiter_resource="requests",retake_limiter_scope="search"} 60`,
	} {
		assert.Contains(t, lines, want)
	}
	require.True(t, l.Leave(second.Scope, second.ID))
	l.Settle(first.Grant, limiter.Use{Outcome: limit.Down})
	other, known := l.Ask(limiter.Ask{Scope: "tenant-2"}, func(limiter.Answer) {})
	require.True(t, known)
	l.Settle(other.Grant, limiter.Use{Outcome: limit.Served})
	lines = b.scrape(t)
	assert.Contains(t, lines, `retake_limiter_breaker_open{retake_limiter_scope="search"} 1`)
	assert.Len(t, series(lines, "retake_limiter_waiting"), 1, "names are bounded")
	require.NoError(t, stop())
	assert.Empty(t, b.scrape(t))
}

func TestWaitsForALimiterAreMeasured(t *testing.T) {
	b := newBackend(t, otel.Config{})
	l, err := limiter.New(limiter.Config{})
	require.NoError(t, err)
	_, err = loopRun(t.Context(), looptest.NewModel(looptest.Say("Hello.")), newSession(t), "Hi.", loop.Config{},
		loop.WithObserver(b.observer), loop.WithLimiter(l))
	require.NoError(t, err)
	lines := series(b.scrape(t), "retake_limiter_wait_seconds_count")
	require.Len(t, lines, 1)
	assert.Contains(t, lines[0], `retake_limiter_outcome="granted"`)
}
