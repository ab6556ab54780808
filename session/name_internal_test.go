package session

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestNamesAreThoseOfThePattern(t *testing.T) {
	pattern := regexp.MustCompile(namePattern)
	for _, name := range []string{"", "a", "9", ".", "a.", "a\n", "\na", "é", "aé", strings.Repeat("a", 64), strings.Repeat("a", 65), "a-b_c.9", "aB"} {
		assert.Equal(t, pattern.MatchString(name), isName(name), name)
	}
	for c := range 256 {
		for _, name := range []string{string([]byte{byte(c)}), string([]byte{'a', byte(c)})} {
			assert.Equal(t, pattern.MatchString(name), isName(name), "%q", name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9_.A-Zé\n-]{0,70}`).Draw(t, "name")
		assert.Equal(t, pattern.MatchString(name), isName(name), name)
	})
}
