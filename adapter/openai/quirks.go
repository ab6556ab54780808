package openai

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/message"
)

// Quirks are where a server differs from OpenAI's Chat Completions API. The zero value differs in nothing.
type Quirks = wire.Quirks

// QuirksOf returns what is known of a provider ([Config].Provider, in any case) and a model, with its
// source; the zero value for an unknown provider. Change the result and set it as [Config].Quirks where it
// is wrong for your server.
func QuirksOf(provider, model string) Quirks { return wire.QuirksOf(provider, model) }

// quirks returns the quirks that apply. Echo decides what is echoed, and only that is filled in.
func (c Config) quirks() Quirks {
	q := wire.QuirksOf(c.provider(), c.Model)
	if c.Quirks != nil {
		q = c.Quirks.Clone()
	}
	if c.Echo != nil {
		q.Echo = slices.Clone(c.Echo)
	}
	unasked := func(name string, _ json.RawMessage) bool { return !slices.Contains(q.Echo, name) }
	maps.DeleteFunc(q.FillMessage, unasked)
	maps.DeleteFunc(q.FillCall, unasked)
	return q
}

// ownMembers are the members of messages and calls that the adapter writes itself.
var ownMembers = []string{"role", "content", "tool_calls", "id", "type", "function", "index"}

func isOwn(name string) bool { return name == "" || slices.Contains(ownMembers, name) }

const ownMember = "%s: %q is a member that the adapter always sends: remove it"

// quirkFaults returns an error for each field of quirks that is out of bounds.
func quirkFaults(q Quirks) (faults []error) {
	for n, name := range q.Echo {
		if isOwn(name) {
			faults = append(faults, fmt.Errorf(ownMember, fmt.Sprintf("Quirks.Echo[%d]", n), name))
		}
	}
	for field, all := range map[string]map[string]json.RawMessage{"FillCall": q.FillCall, "FillMessage": q.FillMessage} {
		for name, v := range all {
			switch {
			case isOwn(name):
				faults = append(faults, fmt.Errorf(ownMember, "Quirks."+field, name))
			case !json.Valid(v):
				faults = append(faults, fmt.Errorf("Quirks.%s: %q must be JSON", field, name))
			}
		}
	}
	if q.MaxID < 0 || q.ExactID < 0 {
		faults = append(faults, fmt.Errorf("Quirks: MaxID and ExactID must be 0 or more, not %d and %d", q.MaxID, q.ExactID))
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return faults
}

// takesID reports whether the server accepts the id of a call that another server gave.
func (c *caller) takesID(id string) bool {
	exact, most := c.quirks.ExactID, c.quirks.MaxID
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
func (c *caller) rules(adapter string, said []message.Message) wire.Rules {
	given := map[string]bool{}
	for _, m := range said {
		if c.origin(adapter).wrote(m.Opaque) {
			for _, call := range m.Calls {
				given[call.ID] = true
			}
		}
	}
	r := wire.Rules{Name: safeName, SystemInPlace: true}
	r.TakesID = func(id string) bool { return given[id] || c.takesID(id) }
	if n := c.quirks.ExactID; n > 0 {
		r.MakeID = func(made int) string { return fmt.Sprintf("%0*d", n, made) }
	}
	return r
}
