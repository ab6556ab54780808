package chat

import (
	"cmp"
	"encoding/hex"
	"hash/fnv"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// turn is one message in the order that the APIs require: the calls of an assistant message have their
// answers with them.
type turn struct {
	message.Message
	calls []kit.Call
}

// turns orders a transcript.
func turns(t []message.Message, rules kit.Rules) []turn {
	_, exchanges := rules.Exchanges(t)
	var all []turn
	for _, e := range exchanges {
		if e.Model.Role != "" {
			all = append(all, turn{e.Model, e.Calls})
		}
		for _, m := range e.Then {
			all = append(all, turn{Message: m})
		}
	}
	return all
}

// answer returns the answer to a call; some servers refuse an empty one.
func answer(c kit.Call) string { return cmp.Or(c.Text, "(empty)") }

// maxName bounds the name of a function, in bytes.
const maxName = 64

// safeName returns the name of a tool on the wire: letters, digits, "_" and "-", at most 64, and no digit or
// "-" first, which Moonshot refuses. A longer name keeps its beginning and ends in a hash of the whole.
func safeName(name string) string {
	safe := tool.ProviderName(name)
	switch {
	case safe == "":
		return "unnamed"
	case safe[0] == '-' || safe[0] >= '0' && safe[0] <= '9':
		safe = "_" + safe
	}
	if len(safe) <= maxName {
		return safe
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	sum := hex.EncodeToString(h.Sum(nil))
	return safe[:maxName-1-len(sum)] + "_" + sum
}

// wireNames maps the wire names of all tools to themselves, or to the registered ones, where the core could
// not tell those.
type wireNames map[string]string

func namesOf(tools []*tool.Tool) (names wireNames) {
	for _, t := range tools {
		name := safeName(t.Name())
		set(&names, name, name)
		if name != tool.ProviderName(t.Name()) {
			names[name] = t.Name()
		}
	}
	return names
}

// has reports whether there is a tool with a wire name.
func (n wireNames) has(name string) bool { return n[name] != "" }

// registered returns the registered name of a tool that was called by its wire name.
func (n wireNames) registered(name string) string {
	name = bareName(name)
	return cmp.Or(n[name], name)
}

// bareName returns a name without the control tokens that servers of gpt-oss leave after it
// ("f<|channel|>commentary"): no name on the wire has them.
func bareName(name string) string {
	bare, _, _ := strings.Cut(name, "<|")
	return cmp.Or(bare, name)
}
