package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// A run is recorded in a file, and replayed without the model.
func Example() {
	dir, err := os.MkdirTemp("", "journals")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	j, err := journal.Open(context.Background(), journal.Dir(dir), "order-42", journal.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, _ := session.New(session.Config{Journal: j})
	model := looptest.NewModel(looptest.Say(""), looptest.Say("Two nights in Lisbon."))
	l, _ := loop.New(model, loop.Config{})
	result, err := l.Run(context.Background(), s, loop.Input{Prompt: "Where to?"})
	fmt.Println(result.Text, err, j.Close())

	text, _ := os.ReadFile(filepath.Join(dir, journal.FileName("order-42")))
	report, err := journal.Replay(bytes.NewReader(text), nil)
	fmt.Println(report, err)

	once := policy.DefaultSet()
	once.Global.MaxAttempts = new(1)
	outlook, err := journal.WhatIf{Policy: &once}.Run(bytes.NewReader(text))
	fmt.Println(outlook.Runs[0].End, outlook.Change().ModelCalls, err)
	// Output:
	// Two nights in Lisbon. <nil> <nil>
	// session order-42: 3 events, 2 prompts: all as recorded <nil>
	// stop: attempt 1 of 1: no_output (attempts_exhausted) -1 <nil>
}

// recorded returns the journal of a run.
func recorded(settings journal.Settings, prompt string, script ...looptest.Turn) []byte {
	store := &looptest.Store{}
	j, _ := journal.Open(context.Background(), store, "order-42", settings)
	s, _ := session.New(session.Config{Journal: j})
	l, _ := loop.New(looptest.NewModel(script...), loop.Config{})
	_, _ = l.Run(context.Background(), s, loop.Input{Prompt: prompt})
	_ = j.Close()
	return store.Text("order-42")
}

// Two runs differ from the second reply on.
func ExampleDiff() {
	a := recorded(journal.Settings{}, "Where?", looptest.Say("In Lisbon."))
	b := recorded(journal.Settings{}, "Where?", looptest.Say(""), looptest.Say("In Porto."))
	d, err := journal.Diff(bytes.NewReader(a), bytes.NewReader(b), journal.Diffing{})
	fmt.Println(d.Same(), d.Steps, err)
	// Output: false 1 <nil>
}

// The user's text is left out of the journal, and the journal still replays.
func ExampleRedaction() {
	settings := journal.Settings{Redact: &journal.Redaction{Prompts: true}}
	text := recorded(settings, "My card is 4111 1111.", looptest.Say("Thanks."))
	report, err := journal.Replay(bytes.NewReader(text), nil)
	fmt.Println(bytes.Contains(text, []byte("4111 1111")), report, err)
	// Output: false session order-42: 2 events, 1 prompt: all as recorded <nil>
}

// Compact replaces a long history by a snapshot. The next run of the session continues from it.
func ExampleCompact() {
	ctx, store := context.Background(), &looptest.Store{}
	j, _ := journal.Open(ctx, store, "order-42", journal.Settings{})
	s, _ := session.New(session.Config{Journal: j})
	l, _ := loop.New(looptest.NewModel(looptest.Say("In Lisbon.")), loop.Config{})
	_, _ = l.Run(ctx, s, loop.Input{Prompt: "Where?"})
	_ = j.Close()
	fmt.Println(bytes.Count(store.Text("order-42"), []byte("\n")), "lines")
	err := journal.Compact(ctx, store, "order-42", nil)
	fmt.Println(bytes.Count(store.Text("order-42"), []byte("\n")), "lines", err)
	// Output:
	// 5 lines
	// 2 lines <nil>
}
