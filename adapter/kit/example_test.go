package kit_test

import (
	"fmt"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

func Example() {
	said := []message.Message{
		{Role: message.User, Text: "Two nights in Porto, please."},
		{Role: message.Assistant, Calls: []message.Call{{Name: "book.room", Arguments: `{"nights": tw`}}},
		{Role: message.Tool, CallID: "call-1", Name: "book.room", IsError: true, Text: "not JSON"},
	}
	rules := kit.Rules{Name: func(name string) string { return "book_room" }}
	_, exchanges := rules.Exchanges(said)
	call := exchanges[1].Calls[0]
	fmt.Println(call.ID, call.Name, string(kit.Arguments(call.Made.Arguments)))
	fmt.Println(call.Text, call.IsError)
	// Output:
	// call-1 book_room {"raw_arguments":"{\"nights\": tw"}
	// not JSON true
}
