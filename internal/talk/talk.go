package talk

import (
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

// Validate reports the first message of a conversation that has no role, or an invalid part, and its index.
// It returns nil if all are valid.
func Validate(said []message.Message) error {
	for n, m := range said {
		if !slices.Contains([]message.Role{message.System, message.User, message.Assistant, message.Tool}, m.Role) {
			return fmt.Errorf("[%d].role: must be system, user, assistant or tool, got %q", n, m.Role)
		}
		if err := ValidateParts(m.Parts); err != nil {
			return fmt.Errorf("[%d].parts%w", n, err)
		}
	}
	return nil
}

// ValidateParts reports the first invalid part of a list and its index. It returns nil if all are valid.
func ValidateParts(parts []message.Part) error {
	for n, p := range parts {
		if err := p.Validate(); err != nil {
			return fmt.Errorf("[%d].%w", n, err)
		}
	}
	return nil
}
