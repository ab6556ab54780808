package inbox_test

import (
	"context"
	"fmt"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop/machine"
)

// A program of its own approves everything that waits in a folder of journals.
func Example() {
	ctx, store := context.Background(), journal.Dir("runs")
	for q, err := range inbox.Pending(ctx, store, time.Now()) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		err = inbox.Answer(ctx, store, q.Session, machine.Response{
			Question: q.ID, Verdict: machine.Approve, By: "Ann", At: time.Now(),
		})
		fmt.Println(q.Session, q.Tool, err)
	}
	// Output:
}
