package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "retake")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(ctx, filepath.Join(dir, "journals.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	j, err := journal.Open(ctx, store, "order-42", journal.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer j.Close()
	s, err := session.New(session.Config{Journal: j})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := looptest.NewModel(looptest.Say("Hello."))
	l, _ := loop.New(model, loop.Config{})
	result, err := l.Run(ctx, s, loop.Input{Prompt: "Hi."})
	fmt.Println(result.Text, err)
	fmt.Println(store.List(ctx))
	// Output:
	// Hello. <nil>
	// [order-42] <nil>
}
