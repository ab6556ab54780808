package result_test

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/result"
)

// An agent's answer as a result envelope, written and read back.
func Example() {
	r := result.Success(map[string]string{"breed": "Maine Coon"})
	r.Confidence = new(0.65)
	r.Execution.RetryCount = new(0)

	doc, err := result.Encode(result.ResultEnvelope, r)
	fmt.Println(string(doc), err)

	_, err = result.Decode[string](result.ResultEnvelope, []byte(`{"status":"sucess","confidence":0.65}`))
	fmt.Println(err)
	// Output:
	// {"confidence":0.65,"data":{"breed":"Maine Coon"},"execution":{"retryCount":0},"status":"success"} <nil>
	// result_envelope: status: expected one of "success", "error", "in-progress", got "sucess"
}

// One error, in the words of each document.
func ExampleEncode() {
	r := result.Failure[string](fault.Overloaded, "no capacity")
	for _, form := range result.Forms() {
		doc, _ := result.Encode(form, r)
		fmt.Println(string(doc))
	}
	// Output:
	// {"error":"llm-unavailable","retake":{"error":{"class":"overloaded","message":"no capacity"}},"status":"error"}
	// {"error":{"code":"server_error","message":"no capacity","retryable":true},"retake":{"error":{"class":"overloaded"}}}
	// {"error":"NETWORK_ERROR","message":"no capacity","retake":{"error":{"class":"overloaded"}},"success":false}
	// {"error":"NETWORK_ERROR","message":"no capacity","retake":{"error":{"class":"overloaded"}},"success":false}
}

// Errors are data at the boundary, and Go errors inside.
func ExampleResult_Unwrap() {
	r := result.Failure[string](fault.RateLimit, "Too many requests")
	r.Execution.Provider = "openai"
	fmt.Println(r.UserMessage())

	_, err := r.Unwrap()
	var limited *fault.RateLimitError
	fmt.Println(errors.As(err, &limited), limited.Provider)
	// Output:
	// OpenAI is receiving too many requests from you right now. Wait a moment and try again.
	// true openai
}

func ExampleTotal() {
	first := result.Failure[string](fault.Timeout, "late")
	first.Execution.Cost.Total = 0.1
	second := result.Success("done")
	second.Execution.Cost = result.Cost{Input: 0.15, Output: 0.05}

	all := result.Total(first, second)
	fmt.Println(all.Data, all.Execution.Cost.Amount(), *all.Execution.RetryCount)
	// Output: done 0.3 1
}

// What the document of result envelopes calls match, mapResult and andThen, in Go.
func Example_helpers() {
	rooms := result.Success(3)
	rooms.Execution.Cost.Total = 0.1

	switch rooms.Status { // match
	case result.StatusSuccess:
		fmt.Println(rooms.Data, "rooms")
	case result.StatusError:
		fmt.Println(rooms.UserMessage())
	}

	text := result.Result[string]{ // mapResult: all but the data stays
		Status: rooms.Status, Data: fmt.Sprint(rooms.Data, " of them"), Error: rooms.Error, Meta: rooms.Meta,
	}

	wanted, err := text.Unwrap() // andThen: the next agent gets the data, and the costs are added up
	if err != nil {
		return
	}
	booked := result.Success("booked: " + wanted)
	booked.Execution.Cost.Total = 0.2
	booked.Execution = booked.Execution.Plus(text.Execution)
	fmt.Println(booked.Data, booked.Execution.Cost.Amount())
	// Output:
	// 3 rooms
	// booked: 3 of them 0.3
}
