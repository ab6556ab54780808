package talk

import (
	"slices"

	"github.com/retake-go/retake/message"
)

// Unanswered returns the calls of the model's last message that have no result after it, in order. A result
// belongs to the call with its CallID, else to the first open one of its Name, because ids may be derived.
func Unanswered(said []message.Message) []message.Call {
	last := LastReply(said)
	if last < 0 || len(said[last].Calls) == 0 {
		return nil
	}
	open := make([]*message.Call, len(said[last].Calls))
	for n := range open {
		open[n] = &said[last].Calls[n]
	}
	id, name := func(c *message.Call) string { return c.ID }, func(c *message.Call) string { return c.Name }
	rest := take(open, said[last+1:], id, func(m *message.Message) string { return m.CallID })
	take(open, rest, name, func(m *message.Message) string { return m.Name })
	var left []message.Call
	for _, c := range open {
		if c != nil {
			left = append(left, *c)
		}
	}
	return left
}

// take removes the first open call of each result by what names both, and returns the other results.
func take(
	open []*message.Call, results []message.Message, call func(*message.Call) string,
	result func(*message.Message) string,
) (rest []message.Message) {
	places := map[string][]int{}
	for n, c := range open {
		if c != nil {
			places[call(c)] = append(places[call(c)], n)
		}
	}
	for n := range results {
		m := &results[n]
		if m.Role != message.Tool {
			continue
		}
		of := places[result(m)]
		if len(of) == 0 {
			rest = append(rest, *m)
			continue
		}
		open[of[0]], places[result(m)] = nil, of[1:]
	}
	return rest
}

// LastReply returns the index of the model's last message, or a negative number.
func LastReply(said []message.Message) int {
	for n, m := range slices.Backward(said) {
		if m.Role == message.Assistant {
			return n
		}
	}
	return -1
}
