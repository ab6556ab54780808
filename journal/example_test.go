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
	s, _ := session.New(session.Config{})
	model := looptest.NewModel(looptest.Say(""), looptest.Say("Two nights in Lisbon."))
	result, err := loop.Run(context.Background(), model, s, "Where to?", loop.Config{}, loop.WithJournal(j))
	fmt.Println(result.Text, err, j.Close())

	text, _ := os.ReadFile(filepath.Join(dir, journal.FileName("order-42")))
	report, err := journal.Replay(bytes.NewReader(text), journal.Replaying{})
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
