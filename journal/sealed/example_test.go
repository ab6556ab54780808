package sealed_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/sealed"
	"github.com/retake-go/retake/looptest"
)

// A file of keys has one a line. The first seals, and all open.
func Example() {
	ctx := context.Background()
	keys, err := sealed.ParseKeys([]byte("aTjBN9yCT3Yq2tXhVn0q4bcFvXhGZzMlqkSY5mEoM2k=\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	var folder looptest.Store // or a journal.Dir
	store, err := sealed.New(&folder, keys...)
	if err != nil {
		fmt.Println(err)
		return
	}
	log, err := store.Open(ctx, "order-42")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer log.Close()
	if err := log.Append(ctx, 0, []byte("what a run records\n"), true); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bytes.Contains(folder.Text("order-42"), []byte("run")))
	_, err = journal.NewReader(bytes.NewReader(folder.Text("order-42"))).Next()
	fmt.Println(err)
	// Output:
	// false
	// journal: line 1 is sealed with the key whose id is "828d7f9e54833e97": give that key
}
