package talk

import (
	"errors"
	"fmt"
	"slices"

	"github.com/retake-go/retake/message"
)

// Equal reports whether two conversations are equal.
func Equal(a, b []message.Message) bool {
	if len(a) != len(b) {
		return false
	}
	for n := range a {
		if !same(&a[n], &b[n]) {
			return false
		}
	}
	return true
}

func same(m, o *message.Message) bool {
	return m.Role == o.Role && m.Text == o.Text && slices.Equal(m.Parts, o.Parts) &&
		slices.Equal(m.Calls, o.Calls) && m.CallID == o.CallID && m.Name == o.Name &&
		m.IsError == o.IsError && m.Opaque == o.Opaque
}

// mostFaults is the number of faults after which no further message is looked at.
const mostFaults = 100

// Validate reports the messages of a conversation that have no role or an invalid part, each by its place in
// the conversation, of which at is the name. It returns nil if all are valid.
func Validate(at string, said []message.Message) error {
	var errs []error
	for n, m := range said {
		if !slices.Contains([]message.Role{message.System, message.User, message.Assistant, message.Tool}, m.Role) {
			errs = append(errs, fmt.Errorf("%s[%d].role: must be system, user, assistant or tool, got %q", at, n, m.Role))
		}
		for k, p := range m.Parts {
			if err := p.Validate(); err != nil {
				errs = append(errs, fmt.Errorf("%s[%d].parts[%d].%w", at, n, k, err))
			}
		}
		if len(errs) >= mostFaults {
			break
		}
	}
	return errors.Join(errs...)
}

// ValidateParts reports the invalid parts of a list, each by its place in it. It returns nil if all are
// valid.
func ValidateParts(at string, parts []message.Part) error {
	var errs []error
	for n, p := range parts {
		if err := p.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("%s[%d].%w", at, n, err))
		}
	}
	return errors.Join(errs...)
}
