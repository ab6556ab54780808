package otel_test

import (
	"context"
	"fmt"
	"log"

	prom "github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/retake-go/retake/adapter/otel"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

func Example() {
	registry, spans := prom.NewRegistry(), tracetest.NewInMemoryExporter()
	exporter, err := prometheus.New(prometheus.WithRegisterer(registry), prometheus.WithoutTargetInfo())
	if err != nil {
		log.Fatal(err)
	}
	observer, err := otel.New(otel.Config{
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(exporter)),
		TracerProvider: trace.NewTracerProvider(trace.WithSyncer(spans)),
		Models:         map[string]otel.Model{"": {Provider: "example", Name: "scripted"}},
	})
	if err != nil {
		log.Fatal(err)
	}

	book := tool.New("book_room", "Book a hotel room.", func(context.Context, booking) (receipt, error) { return receipt{"R-1"}, nil })
	tools, _ := tool.NewSet(book)
	s, _ := session.New(session.Config{ID: "order-42"})
	model := looptest.NewModel(
		looptest.Call(message.Call{Name: "book_room", Arguments: `{"city": "Lisbon", "nights": "two"}`}),
		looptest.Call(message.Call{Name: "book_room", Arguments: `{"city": "Lisbon", "nights": 2}`}),
		looptest.Say("Booked."))
	l, _ := loop.New(model, loop.Config{Tools: tools}, loop.WithObserver(observer))
	_, err = l.Run(context.Background(), s, loop.Input{Prompt: "Two nights in Lisbon, please."})
	if err != nil {
		log.Fatal(err)
	}

	families, _ := registry.Gather()
	for _, f := range families {
		fmt.Println(f.GetName())
	}
	for _, span := range spans.GetSpans() {
		fmt.Println(span.Name)
	}
	// Output:
	// gen_ai_client_operation_duration_seconds
	// gen_ai_execute_tool_duration_seconds
	// gen_ai_invoke_agent_duration_seconds
	// retake_retry_attempts
	// retake_retry_delay_seconds
	// validation_retry_total
	// chat scripted
	// chat scripted
	// execute_tool book_room
	// chat scripted
	// invoke_agent
}
