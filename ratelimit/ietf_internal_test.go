package ratelimit

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// In a string of a structured field a backslash escapes the next character, also another backslash.
func TestStringsOfStructuredFields(t *testing.T) {
	for value, want := range map[string][]string{
		`"a\\";q=1, "b";q=2`:     {`"a\\";q=1`, ` "b";q=2`},
		`"a\",b";q=1,"c";q=2`:    {`"a\",b";q=1`, `"c";q=2`},
		`"a\\\",b";q=1,"c";q=2`:  {`"a\\\",b";q=1`, `"c";q=2`},
		`a\;q=1,b`:               {`a\;q=1`, `b`},
		`"never, closed\\";q=1,`: {`"never, closed\\";q=1`, ``},
	} {
		assert.Equal(t, want, splitOutsideQuotes(value, ','), value)
	}
	m := parseMember(`"per \"minute\" \\";q=10;w=60;pk=":a\\b:"`)
	name, ok := policyName(m.head)
	assert.True(t, ok)
	assert.Equal(t, `per "minute" \`, name)
	assert.Equal(t, map[string]string{"q": "10", "w": "60", "pk": `:a\b:`}, m.params)
}
