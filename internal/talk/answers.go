package talk

import (
	"slices"
	"strconv"

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

// Waits reports whether a conversation ends with something that a model can answer: a message of the user or
// the result of a call.
func Waits(said []message.Message) bool {
	last := len(said) - 1
	return last >= 0 && (said[last].Role == message.User || said[last].Role == message.Tool)
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

// Named returns calls in which each has an id of its own: those that have none, or that of a call before
// them, get another. A provider refuses a conversation in which two calls have one id, or a result has that
// of none. It copies the list only if that makes a difference.
func Named(calls []message.Call) []message.Call {
	if len(calls) == 1 && calls[0].ID != "" {
		return calls
	}
	given := map[string]int{}
	for _, c := range calls {
		given[c.ID]++
	}
	if given[""] == 0 && len(given) == len(calls) {
		return calls
	}
	calls = slices.Clone(calls)
	used := map[string]bool{}
	for n := range calls {
		id := calls[n].ID
		for place := n; id == "" || used[id]; place += len(calls) {
			if id = CallID(place); given[id] > 0 {
				id = ""
			}
		}
		calls[n].ID = id
		used[id] = true
	}
	return calls
}

// CallID returns the id of a call at a place in its reply, from 0, that has none.
func CallID(place int) string { return "call-" + strconv.Itoa(place+1) }
