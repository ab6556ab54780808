package otel_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/retake-go/retake/adapter/otel"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// backend is an SDK with a Prometheus exporter and a recorder of spans.
type backend struct {
	registry *prom.Registry
	spans    *tracetest.SpanRecorder
	observer *otel.Observer
	tracers  *trace.TracerProvider
}

func newBackend(t testing.TB, cfg otel.Config) *backend {
	t.Helper()
	b := &backend{registry: prom.NewRegistry(), spans: tracetest.NewSpanRecorder()}
	exporter, err := prometheus.New(prometheus.WithRegisterer(b.registry), prometheus.WithoutScopeInfo(), prometheus.WithoutTargetInfo())
	require.NoError(t, err)
	b.tracers = trace.NewTracerProvider(trace.WithSpanProcessor(b.spans))
	cfg.MeterProvider = metric.NewMeterProvider(metric.WithReader(exporter))
	cfg.TracerProvider = b.tracers
	b.observer, err = otel.New(cfg)
	require.NoError(t, err)
	return b
}

// scrape is the text that Prometheus reads over HTTP, without comments.
func (b *backend) scrape(t testing.TB) []string {
	t.Helper()
	server := httptest.NewServer(promhttp.HandlerFor(b.registry, promhttp.HandlerOpts{}))
	defer server.Close()
	res, err := http.Get(server.URL)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(body)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// series returns the lines of one metric.
func series(lines []string, name string) []string {
	var own []string
	for _, line := range lines {
		if strings.HasPrefix(line, name+"{") || strings.HasPrefix(line, name+" ") {
			own = append(own, line)
		}
	}
	return own
}

type booking struct {
	City   string `json:"city"   validate:"required"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

type receipt struct {
	Number string `json:"number"`
}

const (
	lisbon = `{"city": "Lisbon", "nights": 2}`
	faro   = `{"city": "Faro", "nights": 1}`
)

func booked(context.Context, booking) (receipt, error) { return receipt{"R-1"}, nil }

func toolsOf(t testing.TB, book func(context.Context, booking) (receipt, error)) *tool.Set {
	t.Helper()
	set, err := tool.NewSet(tool.New("book_room", "Book a hotel room.", book))
	require.NoError(t, err)
	return set
}

func call(name, arguments string) message.Call {
	return message.Call{ID: "c1", Name: name, Arguments: arguments}
}

var errFaro = errors.New("nobody goes to Faro")

// newSession has a reducer that refuses bookings in Faro.
func newSession(t testing.TB) *session.Session {
	t.Helper()
	bookings := session.StateSlice[string]("bookings")
	s, err := session.New(session.Config{
		ID: "order-42", Slices: []session.Declared{bookings},
		Reducers: []session.Reducer{session.On(bookings, session.EventToolResult, "occupancy",
			func(_ reducer.View[string], e session.ToolResultEvent) (reducer.Change[string], error) {
				if strings.Contains(string(e.Arguments), "Faro") {
					return reducer.Change[string]{}, errFaro
				}
				return reducer.Append(e.Tool), nil
			})},
	})
	require.NoError(t, err)
	return s
}

// clean is a buffer for several goroutines.
type clean struct {
	mu   sync.Mutex
	text strings.Builder
}

func (c *clean) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(p)
}

func (c *clean) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}
