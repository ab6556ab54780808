// Command web is a small web service that streams. A browser posts a question to /trips and reads server-sent
// events:
//
//	delta   a piece of the reply, to be shown
//	reset   the reply so far did not stand: take it back
//	done    the checked answer, as JSON
//	failed  why there is none
//
// The model is scripted: its first answer is refused by the schema, so there is something to take back. Try
// it:
//
//	go run ./web
//	curl -N -d 'Nine nights in Lisbon.' localhost:8080/trips
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// Trip is the answer.
type Trip struct {
	City   string `json:"city" validate:"required"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

// maxQuestion bounds the body of a request in bytes.
const maxQuestion = 4096

// Handler answers POST /trips by asking a model.
func Handler(model loop.Model) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /trips", func(w http.ResponseWriter, r *http.Request) {
		question, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuestion))
		if err != nil {
			http.Error(w, "the question is too long", http.StatusRequestEntityTooLarge)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		answer(r.Context(), model, string(question), func(event string, data any) { send(w, event, data) })
	})
	return mux
}

// answer makes one run and sends what happens. The run ends when the browser leaves, because ctx is the
// request's.
func answer(ctx context.Context, model loop.Model, question string, send func(event string, data any)) {
	show := func(d loop.Delta) {
		switch {
		case d.Reset:
			send("reset", "")
		case d.Text != "":
			send("delta", d.Text)
		}
	}
	l, err := loop.New(model, loop.Config{}, loop.WithStream(show))
	if err != nil {
		log.Print(err)
		send("failed", "internal error")
		return
	}
	trip, err := loop.Generate[Trip](ctx, l, nil, loop.Input{Prompt: question})
	var exhausted *loop.RetryExhaustedError
	switch {
	case err == nil:
		send("done", trip.Value)
	case errors.As(err, &exhausted):
		send("failed", exhausted.Reason.Phrase())
	default:
		log.Print(err) // a fault of this program: none of the browser's business
		send("failed", "internal error")
	}
}

// send writes one event. JSON has no line breaks, so the data is one line.
func send(w http.ResponseWriter, event string, data any) {
	line, err := json.Marshal(data)
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, line)
	_ = http.NewResponseController(w).Flush()
}

// scripted streams a wrong answer to each new question, and a right one to the correction.
func scripted(_ context.Context, req loop.Request) (message.Reply, error) {
	text := `{"city": "Lisbon", "nights": 90}`
	if len(req.Messages) > 1 {
		text = `{"city": "Lisbon", "nights": 9}`
	}
	for piece := range strings.SplitAfterSeq(text, ",") {
		req.Stream(loop.Delta{Call: -1, Text: piece})
	}
	return message.Reply{Text: text, Finish: message.Stop}, nil
}

func main() {
	ctx, stop := loop.NotifyShutdown(context.Background())
	defer stop()
	server := http.Server{
		Addr: "localhost:8080", Handler: Handler(loop.ModelFunc(scripted)),
		BaseContext: func(net.Listener) context.Context { return ctx }, // runs end with the process
	}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	log.Print("listening on localhost:8080")
	select {
	case err := <-failed:
		log.Fatal(err)
	case <-ctx.Done():
	}
	if err := server.Shutdown(context.Background()); err != nil {
		log.Print(err)
	}
}
