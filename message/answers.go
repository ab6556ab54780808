package message

import "slices"

// Unanswered returns the calls of the model's last message that have no result after it, in order. A result
// belongs to the call with its CallID, else to the first open one of its Name, because ids may be derived.
func Unanswered(said []Message) []Call {
	last := LastReply(said)
	if last < 0 || len(said[last].Calls) == 0 {
		return nil
	}
	open := make([]*Call, len(said[last].Calls))
	for n := range open {
		open[n] = &said[last].Calls[n]
	}
	id, name := func(c *Call) string { return c.ID }, func(c *Call) string { return c.Name }
	rest := take(open, said[last+1:], id, func(m *Message) string { return m.CallID })
	take(open, rest, name, func(m *Message) string { return m.Name })
	var left []Call
	for _, c := range open {
		if c != nil {
			left = append(left, *c)
		}
	}
	return left
}

// take removes the first open call of each result by what names both, and returns the other results.
func take(open []*Call, results []Message, call func(*Call) string, result func(*Message) string) (rest []Message) {
	places := map[string][]int{}
	for n, c := range open {
		if c != nil {
			places[call(c)] = append(places[call(c)], n)
		}
	}
	for n := range results {
		m := &results[n]
		if m.Role != Tool {
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
func LastReply(said []Message) int {
	for n, m := range slices.Backward(said) {
		if m.Role == Assistant {
			return n
		}
	}
	return -1
}
