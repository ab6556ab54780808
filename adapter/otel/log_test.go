package otel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/otel"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
)

func records(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(text) {
		var rec map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &rec))
		all = append(all, rec)
	}
	return all
}

func TestHandlerIsAHandler(t *testing.T) {
	var log bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		log.Reset()
		return otel.Handler(slog.NewJSONHandler(&log, nil))
	}, func(t *testing.T) map[string]any { return records(t, log.String())[0] })
}

func TestLogsAreCorrelated(t *testing.T) {
	var log clean
	logger := slog.New(otel.Handler(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	b := newBackend(t, otel.Config{})
	book := func(ctx context.Context, _ booking) (receipt, error) {
		logger.InfoContext(ctx, "plain")
		logger.With("a", 1).WithGroup("hotel").With("b", 2).InfoContext(ctx, "grouped", "c", 3, otel.CorrelationIDKey, "the hotel's")
		logger.InfoContext(ctx, "own", otel.CorrelationIDKey, "mine")
		logger.With(otel.CorrelationIDKey, "mine").InfoContext(ctx, "bound")
		logger.Info("elsewhere")
		return receipt{"R-1"}, nil
	}
	_, err := loopRun(t.Context(), looptest.NewModel(looptest.Call(call("book_room", lisbon)), looptest.Say("done")), newSession(t), "Book.", loop.Config{Tools: toolsOf(t, book)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(b.observer), loop.WithObserver(observe.LogTo(logger)))
	require.NoError(t, err)
	spans := map[string]string{}
	for _, s := range b.spans.Ended() {
		spans[s.Name()] = s.SpanContext().SpanID().String()
	}
	traceID := b.spans.Ended()[0].SpanContext().TraceID().String()
	byText := map[string]map[string]any{}
	for _, rec := range records(t, log.String()) {
		byText[rec["msg"].(string)] = rec
	}
	for _, c := range []struct{ text, span, id string }{
		{"plain", "execute_tool book_room", "order-42"}, {"grouped", "execute_tool book_room", "order-42"}, {"own", "execute_tool book_room", "mine"},
		{"bound", "execute_tool book_room", "mine"}, {"attempt ended", "invoke_agent", "order-42"}, {"run ended", "invoke_agent", "order-42"},
	} {
		rec := byText[c.text]
		assert.Equal(t, []any{traceID, spans[c.span], c.id}, []any{rec[otel.TraceIDKey], rec[otel.SpanIDKey], rec[otel.CorrelationIDKey]}, c.text)
	}
	assert.NotContains(t, byText["elsewhere"], otel.TraceIDKey)
	assert.Equal(t, map[string]any{"b": 2., "c": 3., otel.CorrelationIDKey: "the hotel's"}, byText["grouped"]["hotel"])
	for line := range strings.Lines(log.String()) {
		assert.LessOrEqual(t, strings.Count(line, `"`+otel.CorrelationIDKey+`":"order-42"`), 1, line)
	}
}
