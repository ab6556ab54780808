package projection_test

import (
	"fmt"
	"strings"

	"github.com/retake-go/retake/message"
)

// kind is the state of a conversation after a message, as providers see it.
type kind string

const (
	nothing kind = "nothing"
	user    kind = "a user's message"
	words   kind = "a reply without calls"
	asking  kind = "a reply with calls"
	results kind = "a result"
)

// provider has the rules of a provider for the order of messages, as its documents give them.
type provider struct {
	name string
	// follows has what each kind of message may follow.
	follows map[kind][]kind
}

var anything = []kind{nothing, user, words, asking, results}

var providers = []provider{
	{"openai", map[kind][]kind{user: anything, words: anything, asking: anything, results: {asking, results}}},
	{"anthropic", map[kind][]kind{ // begins with the user
		user: anything, words: {user, words, results}, asking: {user, words, results}, results: {asking, results},
	}},
	{"gemini", map[kind][]kind{ // a function call comes after the user or after results
		user: anything, words: {user, words, results}, asking: {user, results}, results: {asking, results},
	}},
	{"ollama", map[kind][]kind{user: anything, words: anything, asking: anything, results: {asking, results}}},
}

// faults returns what a provider would refuse in a prompt.
func (p *provider) faults(said []message.Message) (all []string) {
	last := nothing
	var open []string // ids of calls without a result
	known := map[string]bool{}
	for n, m := range said {
		var is kind
		switch m.Role {
		case message.System:
			continue
		case message.User:
			if is = user; m.Text == "" && len(m.Parts) == 0 {
				all = append(all, fmt.Sprintf("%d: empty", n))
			}
		case message.Assistant:
			if is = words; len(m.Calls) > 0 {
				is = asking
			}
		case message.Tool:
			is = results
		}
		allowed := false
		for _, k := range p.follows[is] {
			allowed = allowed || k == last
		}
		if !allowed {
			all = append(all, fmt.Sprintf("%d: %s follows %s", n, is, last))
		}
		if is != results && len(open) > 0 {
			all = append(all, fmt.Sprintf("%d: calls %q have no result", n, strings.Join(open, ",")))
			open = nil
		}
		if is == results {
			at := -1
			for i, id := range open {
				if id == m.CallID {
					at = i
				}
			}
			if at < 0 {
				all = append(all, fmt.Sprintf("%d: a result of %q, which is no open call", n, m.CallID))
			} else {
				open = append(open[:at:at], open[at+1:]...)
			}
		}
		for _, c := range m.Calls {
			if known[c.ID] {
				all = append(all, fmt.Sprintf("%d: a second call %q", n, c.ID))
			}
			known[c.ID], open = true, append(open, c.ID)
		}
		last = is
	}
	if len(open) > 0 {
		all = append(all, fmt.Sprintf("the end: calls %q have no result", strings.Join(open, ",")))
	}
	if last != user && last != results { // there is nothing to reply to
		all = append(all, fmt.Sprintf("the end: %s is last", last))
	}
	return all
}
