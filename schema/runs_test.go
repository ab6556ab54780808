package schema_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/schema"
)

// FuzzRuns compares patterns that are matched as runs with the regular expressions that they are.
func FuzzRuns(f *testing.F) {
	for _, pattern := range []string{
		`^[a-z]+$`, `^[^"]*$`, `^[A-Z]{2,3}-?[0-9]{4}$`, `^(0x)?[0-9]+$`, `^\d{4}-\d\d-\d\d$`, `^(?:ab|c)$`, `^a?a$`, `^a*b?c+$`,
		`^[0-9a-f]{4}(-[0-9a-f]{2}){3}$`, `^(a?b){2}$`, `^(?i)k\w$`, `(?m)^a$`, `^é+[à-ü]$`, `^(ab)+$`, `^ab{2}$`, `^$`, `^[a-c]?[c-e]{0}d$`,
		`^a{0}b$`, `^(?:)$`, `a+$`, `^a\b$`, `^.+$`, `^[^\x00-\x{10FFFF}]?$`,
	} {
		for _, text := range []string{
			"", "a", "b", "ab", "abc", "abb", "AB-1234", "ABC1234", "0x12", "12", "2026-01-02", "aa", "0a1f-00-11-22", "abab", "K1", "éé", "é",
			"a\n", "é\xff", "cd", "\"",
		} {
			f.Add(pattern, text)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 200 {
			t.Skip("takes long to read")
		}
		want, err := regexp.Compile(pattern)
		if matches := schema.MatchesRuns(pattern); err == nil && matches != nil {
			assert.Equal(t, want.MatchString(text), matches(text), "%s %q", pattern, text)
		}
	})
}

func TestUsualPatternsAreRuns(t *testing.T) {
	for pattern, isRuns := range map[string]bool{
		`^[a-z0-9_-]+$`: true, `^[A-Z]{2}[0-9]{6}$`: true, `^\+?[1-9][0-9]{7,14}$`: true, `^[a-z]+(-[a-z]+)*$`: false, `^[a-z]`: false,
		`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`: true, `^[a-z]+[a-z0-9]$`: false,
	} {
		assert.Equal(t, isRuns, schema.MatchesRuns(pattern) != nil, pattern)
	}
}
