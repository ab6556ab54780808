package session

import (
	"maps"
	"slices"
	"strings"
)

// Counts has a count for each tool, sorted by tool; none is 0. The zero value is empty and ready to use.
type Counts []count

type count struct {
	Tool string `json:"tool"`
	N    int    `json:"n"`
}

// Of returns the count of a tool.
func (c Counts) Of(tool string) int {
	if at, there := c.place(tool); there {
		return c[at].N
	}
	return 0
}

// Plus returns the counts with n added to that of a tool; c does not change. n may be negative; the sum is at
// least 0.
func (c Counts) Plus(tool string, n int) Counts {
	at, there := c.place(tool)
	all := slices.Clone(c)
	if !there {
		all = slices.Insert(all, at, count{Tool: tool})
	}
	if all[at].N += n; all[at].N <= 0 {
		all = slices.Delete(all, at, at+1)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

func (c Counts) place(tool string) (at int, there bool) {
	return slices.BinarySearchFunc(c, tool, func(c count, name string) int { return strings.Compare(c.Tool, name) })
}

// Successes returns the number of calls of a tool that count under its cap for the session
// ([policy.RetryPolicy].MaxSessionSuccesses). Calls are only counted while the tool has a cap.
func (s State) Successes(tool string) int { return s.successes.Of(tool) }

// AddSuccesses returns s with n added to the successes of a tool: see [Counts.Plus].
func (s State) AddSuccesses(tool string, n int) State {
	s.successes = s.successes.Plus(tool, n)
	return s
}

// Approved reports whether a person has approved a call of a tool in the session.
func (s State) Approved(tool string) bool {
	_, there := slices.BinarySearch(s.approved, tool)
	return there
}

// AddApproved returns s with a note that a person has approved a call of the tool.
func (s State) AddApproved(tool string) State {
	if at, there := slices.BinarySearch(s.approved, tool); !there {
		s.approved = slices.Insert(slices.Clone(s.approved), at, tool)
	}
	return s
}

// MaxReply returns the most tokens of a reply that a model can write, if it has refused a request for more.
func (s State) MaxReply(model string) (tokens int64, known bool) {
	tokens, known = s.maxReplies[model]
	return tokens, known
}

// WithMaxReply returns s with the most tokens of a reply that a model can write; 0 or less means unknown.
func (s State) WithMaxReply(model string, tokens int64) State {
	if _, known := s.maxReplies[model]; !known && tokens <= 0 {
		return s
	}
	own := maps.Clone(s.maxReplies)
	if own == nil {
		own = map[string]int64{}
	}
	if own[model] = tokens; tokens <= 0 {
		delete(own, model)
	}
	s.maxReplies = own
	return s
}
