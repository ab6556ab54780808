package otel_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/retake-go/retake/adapter/otel"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
)

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	_, err := otel.New(otel.Config{
		MaxNames: -1, Tools: []string{"book_room", ""}, Classes: []fault.Class{""}, DelayBounds: []float64{1, 1}, AttemptBounds: []float64{},
		Models: map[string]otel.Model{"big": {MaxTokens: -1, Port: 443}, "": {Host: "api.test", Port: 70000}},
	})
	require.EqualError(t, err, `otel: MaxNames: must be at least 1, or 0 for 32, not -1
otel: Tools: a name is empty; remove it, because the final answer is always shown
otel: Classes: a class is empty; remove it
otel: Models[""].Port: must be at most 65535, or 0 if it is unknown, not 70000
otel: Models["big"].MaxTokens: must be at least 1, or 0 if it is unknown, not -1
otel: Models["big"].Port: is 443 without a Host; name the host
otel: DelayBounds[1]: must be more than the bound before it: 1 follows 1
otel: AttemptBounds: is empty; give at least one bound, or nil for the default`)
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
		require.ErrorContains(t, otel.Config{DelayBounds: []float64{bad}}.Validate(), "DelayBounds[0]")
	}
}

func TestTheZeroConfigIsUsable(t *testing.T) {
	o, err := otel.New(otel.Config{})
	require.NoError(t, err)
	r, err := loopRun(t.Context(), looptest.NewModel(looptest.Say("Hello.")), newSession(t), "Hello.", loop.Config{}, loop.WithObserver(o))
	require.NoError(t, err)
	assert.Equal(t, "Hello.", r.Text)
}

// deaf is a meter provider whose meters cannot make histograms.
type deaf struct{ noop.MeterProvider }

type deafMeter struct{ noop.Meter }

var errDeaf = errors.New("no histograms")

func (deaf) Meter(string, ...metric.MeterOption) metric.Meter { return deafMeter{} }

func (deafMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errDeaf
}

func TestWhatTheMeterRefusesIsAnError(t *testing.T) {
	o, err := otel.New(otel.Config{MeterProvider: deaf{}})
	require.ErrorIs(t, err, errDeaf)
	assert.Nil(t, o)
}

func TestBoundsAreTheCallersOwn(t *testing.T) {
	otel.DelayBounds()[0], otel.AttemptBounds()[0] = 99, 99
	assert.Equal(t, []float64{0, 1}, []float64{otel.DelayBounds()[0], otel.AttemptBounds()[0]})
}
