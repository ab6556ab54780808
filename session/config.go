package session

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
)

// Config configures a session. The zero value is valid: no id, no slices, no reducers.
type Config struct {
	// ID is the correlation id in every log record, feedback and journal line: UTF-8 of at most 128 bytes
	// without control characters. If it is empty, the journal gives the session its id, or else the first run
	// does ([Driver.Adopt]).
	ID string
	// Journal records all runs, actions and tries of the session, so that they can be resumed and replayed:
	// one that package journal has opened. Nil records nothing.
	Journal Journal
	// Seed is the seed of the jitter of the session's runs. It wins over the seed of their config or action,
	// so that sessions may share a config with a seed and still wait at different times. Empty means that
	// seed or, without one, the session's id. UTF-8.
	Seed string
	// Slices are the declared slices, in any order.
	Slices []Declared
	// Reducers run in this order for each event they are bound to. Their slices must be declared.
	Reducers []Reducer
	// Events are names of events that tools may emit though no reducer is bound to them. An event that is
	// neither here nor bound is a warning in the result of the run, because its name may be misspelt.
	Events []string
	// OnReducerError is called at once with every reducer error. Nil means no call. See
	// [Session.OnReducerError].
	OnReducerError func(fault.ReducerError)
}

// Journal is the record of one session, a *journal.Journal of package journal.
type Journal interface {
	// Session returns the id of the session.
	Session() string
}

// Validate returns one error for each fault, joined, or nil.
func (c Config) Validate() error {
	faults := []error{checkID(c.ID)}
	check := func(field string, wants ...string) {
		for _, want := range wants {
			if want != "" {
				faults = append(faults, badConfig(field, want))
			}
		}
	}
	check("journal", c.checkJournal())
	if !utf8.ValidString(c.Seed) {
		check("seed", "must be UTF-8")
	}
	declared := map[string]declaration{}
	for i, s := range c.Slices {
		check(fmt.Sprintf("slices[%d]", i), checkSlice(s, declared))
	}
	names := map[string]bool{}
	for i, r := range c.Reducers {
		check(fmt.Sprintf("reducers[%d]", i), checkReducer(r, declared, names)...)
	}
	for i, name := range c.Events {
		if !isName(name) {
			check(fmt.Sprintf("events[%d]", i), fmt.Sprintf("name %q must match %s", name, namePattern))
		}
	}
	return errors.Join(faults...)
}

// maxID is the longest id of a session, in bytes.
const maxID = 128

func checkID(id string) error {
	switch {
	case len(id) > maxID:
		return badConfig("id", fmt.Sprintf("must have at most %d bytes, has %d", maxID, len(id)))
	case !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl):
		return badConfig("id", "must be UTF-8 without control characters")
	}
	return nil
}

// checkJournal returns what would be right about the journal, or "".
func (c *Config) checkJournal() string {
	if c.Journal == nil {
		return ""
	}
	of := c.Journal.Session()
	switch {
	case of == "":
		return "must be a journal that was opened, or left out; it is of no session"
	case c.ID != "" && c.ID != of:
		return fmt.Sprintf("must be that of session %q; it belongs to session %q", c.ID, of)
	}
	return ""
}

// checkSlice checks a declaration and adds it to declared. It returns what would be right, or "".
func checkSlice(s Declared, declared map[string]declaration) string {
	if s == nil {
		return "must be made by StateSlice or LogSlice, is nil"
	}
	name := s.Name()
	_, twice := declared[name]
	switch {
	case s.Kind() != KindState && s.Kind() != KindLog:
		return "must be made by StateSlice or LogSlice"
	case !isName(name):
		return fmt.Sprintf("name %q must match %s", name, namePattern)
	case reserved(name):
		return fmt.Sprintf("name %q is reserved for a built-in log: choose another", name)
	case twice:
		return fmt.Sprintf("name %q is declared twice", name)
	}
	declared[name] = s.declaration()
	return ""
}

// checkReducer returns everything that would be right about a reducer.
func checkReducer(r Reducer, declared map[string]declaration, names map[string]bool) (wants []string) {
	slice, known := declared[r.slice.name]
	checks := []struct {
		wrong bool
		want  string
	}{
		{!isName(r.name), fmt.Sprintf("name %q must match %s", r.name, namePattern)},
		{names[r.name], fmt.Sprintf("name %q is used twice", r.name)},
		{!isName(r.event), fmt.Sprintf("event %q must match %s", r.event, namePattern)},
		{r.run == nil, "must be made by On with a function that is not nil"},
		{!known, fmt.Sprintf("slice %q must be declared in slices", r.slice.name)},
		{known && !slice.same(r.slice), fmt.Sprintf("slice %q is declared with another kind or type",
			r.slice.name)},
	}
	for _, c := range checks {
		if c.wrong {
			wants = append(wants, c.want)
		}
	}
	names[r.name] = true
	return wants
}
