package chat

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// quirks returns the quirks that apply, and what is echoed: only that is filled in.
func (c Config) quirks() (q Quirks, echo []string) {
	q, echo = QuirksOf(c.provider(), c.Model), knownOf(c.provider()).echo
	if wantsReasoning.MatchString(c.Model) && !slices.Contains(echo, reasoningContent) {
		echo = slices.Concat(echo, []string{reasoningContent})
		if c.Provider == "" || strings.HasPrefix(knownOf(c.Provider).names, "litellm") { // it passes on what it gets
			q.FillMessage = cloneMembers(noReasoning)
		}
	}
	if c.Quirks != nil {
		q = c.Quirks.clone()
	}
	if c.Echo != nil {
		echo = slices.Clone(c.Echo)
	}
	unasked := func(name string, _ json.RawMessage) bool { return !slices.Contains(echo, name) }
	maps.DeleteFunc(q.FillMessage, unasked)
	maps.DeleteFunc(q.FillCall, unasked)
	return q, echo
}

// advice is what may help where a server refuses what the adapter sends by default. says is a part of the
// refusal, in lower case.
var advice = []struct{ says, try string }{
	{"encrypted content is not supported", "set NoReasoning of Config.Quirks: the model does not reason"},
	{"reasoning_content", "Config.Provider and Config.Echo decide which reasoning goes back"},
	{"thought_signature", "Config.Provider and Config.Echo decide which signatures go back"},
	{"stream_options", "set NoStreamOptions of Config.Quirks"},
	{"use 'max_completion_tokens'", "leave LegacyMaxTokens of Config.Quirks unset"},
	{"max_completion_tokens", "set LegacyMaxTokens of Config.Quirks"},
	{"'strict'", `set Config.Strict to "off"`},
	{"strict=true", `set Config.Strict to "off"`},
	{"cannot be combined with tool", `set Config.Output to "instructions"`},
	{"json_schema", `set Config.Output to "json_object" or "instructions"`},
	{"response_format", `set Config.Output to "json_object" or "instructions"`},
	{"parallel_tool_calls", "leave Config.ParallelCalls nil"},
}

// advise returns the advice on a refusal; empty for none.
func advise(status int, refusal []byte) string {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return ""
	}
	text := strings.ToLower(string(refusal))
	for _, a := range advice {
		if strings.Contains(text, a.says) {
			return a.try
		}
	}
	return ""
}

// ownMembers are the members of messages and calls that the adapter writes itself.
var ownMembers = []string{"role", "content", "tool_calls", "id", "type", "function", "index"}

func isOwn(name string) bool { return name == "" || slices.Contains(ownMembers, name) }

// ownMember is the fault of a field that names such a member.
const ownMember = "%s: %q is a member that the adapter always sends: remove it"

// check adds a fault for each field that is out of bounds.
func (q Quirks) check(f *kit.Faults) {
	for _, fill := range []struct {
		field  string
		filled members
	}{{"Quirks.FillCall", q.FillCall}, {"Quirks.FillMessage", q.FillMessage}} {
		for _, name := range slices.Sorted(maps.Keys(fill.filled)) {
			f.Refuse(isOwn(name), ownMember, fill.field, name)
			f.Refuse(!isOwn(name) && !json.Valid(fill.filled[name]), "%s: %q must be JSON", fill.field, name)
		}
	}
	f.Refuse(q.MaxID < 0 || q.ExactID < 0, "Quirks: MaxID and ExactID must be 0 or more, not %d and %d",
		q.MaxID, q.ExactID)
}

// takesID reports whether the server accepts the id of a call that another server gave.
func (m *Model) takesID(id string) bool {
	exact, most := m.quirks.ExactID, m.quirks.MaxID
	switch {
	case exact > 0:
		return len(id) == exact && !strings.ContainsFunc(id, func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
	case most > 0 && len(id) > most:
		return false
	}
	return !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// rules returns the rules of the server for a transcript. Ids that it gave itself go back as they came.
func (m *Model) rules(said []message.Message) kit.Rules {
	given := map[string]bool{}
	for _, one := range said {
		if kit.ReadOpaque(one, m.origin(), &struct{}{}) {
			for _, call := range one.Calls {
				given[call.ID] = true
			}
		}
	}
	r := kit.Rules{Name: safeName, SystemInPlace: true}
	r.TakesID = func(id string) bool { return given[id] || m.takesID(id) }
	if n := m.quirks.ExactID; n > 0 {
		r.MakeID = func(made int) string { return fmt.Sprintf("%0*d", n, made) }
	}
	return r
}
