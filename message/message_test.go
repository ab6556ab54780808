package message_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/message"
)

func TestUsageAddsUp(t *testing.T) {
	one := message.Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 1, APICalls: 5}
	assert.Equal(t, message.Usage{InputTokens: 2, OutputTokens: 4, CacheReadTokens: 6, CacheWriteTokens: 8, ReasoningTokens: 2, APICalls: 10}, one.Add(one))
	assert.Equal(t, int64(3), one.Total())
	assert.Equal(t, one, one.Add(message.Usage{}))
	most := message.Usage{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64, CacheReadTokens: math.MaxInt64,
		CacheWriteTokens: math.MaxInt64, ReasoningTokens: math.MaxInt64, APICalls: math.MaxInt64}
	assert.Equal(t, most, most.Add(one), "a provider may say anything: no sum turns negative")
	assert.Equal(t, int64(math.MaxInt64), most.Total())
	assert.Equal(t, one, one.Add(message.Usage{InputTokens: -9, OutputTokens: math.MinInt64, CacheReadTokens: -1}), "nothing is taken back")
}

func TestWhatIsAbsentStaysAbsent(t *testing.T) {
	for _, v := range []any{message.Reply{}, message.Usage{}} {
		doc, err := json.Marshal(v)
		require.NoError(t, err)
		assert.JSONEq(t, "{}", string(doc))
	}
}

func Example() {
	said := []message.Message{
		{Role: message.User, Text: "Two nights in Lisbon, please."},
		{Role: message.Assistant, Calls: []message.Call{{ID: "c1", Name: "book_room", Arguments: `{"nights": 2}`}}},
		{Role: message.Tool, CallID: "c1", Name: "book_room", Text: `"booked"`},
	}
	for _, m := range said {
		fmt.Println(m.Role, m.Text, len(m.Calls))
	}
	// Output:
	// user Two nights in Lisbon, please. 0
	// assistant  1
	// tool "booked" 0
}
