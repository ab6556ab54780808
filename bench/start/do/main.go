// Command do is the smallest program with retake: a function under a policy, without a session.
package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/loop"
)

func main() {
	book := loop.ToolCall("book_room")
	book.Seed = "order-42"
	book.Transport.Backoff = backoff.Exponential(time.Millisecond, backoff.Dec("2"))
	tried := 0
	text, err := loop.Do(context.Background(), nil, book, func(context.Context, loop.Attempt) (string, error) {
		if tried++; tried < 3 {
			return "", syscall.ECONNRESET
		}
		return "Done: R-1.", nil
	})
	fmt.Println(text, err)
}
