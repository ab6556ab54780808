package ratelimit

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/internal/httphint"
)

// In a string of a structured field a backslash escapes the next character, also another backslash.
func TestStringsOfStructuredFields(t *testing.T) {
	names := func(value string) (names []string) {
		r := &reader{}
		for _, m := range r.members(ietfPolicy, httphint.Headers{ietfPolicy: {value}}) {
			name, _ := policyName(m)
			names = append(names, name)
		}
		return names
	}
	for value, want := range map[string][]string{
		`"a\\";q=1, "b";q=2`:                {`a\`, "b"},
		`"a\",b";q=1,"c";q=2`:               {`a",b`, "c"},
		`"a\\\",b";q=1,"c";q=2`:             {`a\",b`, "c"},
		`"per \"minute\" \\";q=10;w=60;x=1`: {`per "minute" \`},
		`"never, closed\\;q=1,`:             nil,
	} {
		assert.Equal(t, want, names(value), value)
	}
}
