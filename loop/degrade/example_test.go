package degrade_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/result"
)

// A summary is nice to have: without one the text is cut, and the envelope has a warning.
func ExampleSummarize() {
	var steps degrade.Fallbacks
	text := degrade.Summarize(context.Background(), &steps, "It was a dark and stormy night.", 16,
		func(context.Context, string) (string, error) { return "", errors.New("model gone") })
	r := result.Success(text)
	r.Meta = steps.AddTo(r.Meta)
	fmt.Println(r.Data, r.Warnings)
	// Output: It was a dark… [a summary could not be made; the text was cut short instead]
}
