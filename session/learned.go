package session

import (
	"maps"
	"slices"
	"strings"
)

// Count is the number of calls of a tool that count as successful: see [State.Successes].
type Count struct {
	Tool string `json:"tool"`
	N    int    `json:"n"`
}

// Successes returns the number of calls of a tool that count under its cap for the session
// ([policy.RetryPolicy].MaxSessionSuccesses). Calls are only counted while the tool has a cap.
func (s State) Successes(tool string) int {
	if at, there := s.count(tool); there {
		return s.successes[at].N
	}
	return 0
}

func (s State) count(tool string) (at int, there bool) {
	return slices.BinarySearchFunc(s.successes, tool,
		func(c Count, name string) int { return strings.Compare(c.Tool, name) })
}

// AddSuccesses returns s with n added to the successes of a tool. n may be negative; the sum is at least 0.
func (s State) AddSuccesses(tool string, n int) State {
	at, there := s.count(tool)
	s.successes = slices.Clone(s.successes)
	if !there {
		s.successes = slices.Insert(s.successes, at, Count{Tool: tool})
	}
	if s.successes[at].N += n; s.successes[at].N <= 0 {
		s.successes = slices.Delete(s.successes, at, at+1)
	}
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
