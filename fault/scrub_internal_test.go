package fault

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A text that has a form has one of the texts that the form is looked for by.
func TestEveryFormHasWhatItIsLookedForBy(t *testing.T) {
	parts := strings.Fields("key token secret passwd password passphrase pwd credential credentials sig signature auth authorization api access_ client " +
		"KEY TO\u212aEN \u017fecret pa\u017fswd Bearer basic cookie set-cookie response nonce cnonce : = => := ' \" [ ( & ? \\ - -- -u --user @ :// @tcp( @unix( " +
		"hooks.slack.com/services/ discord.com/api/webhooks/ -----BEGIN PRIVATE -----END code is was given sk-abcdef0123 0123456789abcdef0123 aB3dE5gH7jK9mN1p word")
	parts = append(parts, " ", "-", "_", "x")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 12).Draw(t, "parts"), "")
		for _, f := range secrets() {
			if f.MatchString(text) {
				require.True(t, f.maybe(folded(text)), "%q has %v", text, f.Regexp)
			}
		}
	})
}

// Each row of the table is read: a head without a pattern, or a doubt that is none, would be a form that is
// not looked for.
func TestEveryRowOfTheFormsIsRead(t *testing.T) {
	heads := 0
	for line := range strings.Lines(strings.TrimSpace(secretTable)) {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "#") {
			heads++
		}
	}
	require.Len(t, secrets(), heads+1, "and the armoured keys")
	for _, f := range secrets() {
		require.Contains(t, []doubt{always, unlessWord, unlessSaid, unlessProse, ifMixed, ifRandom}, f.doubt)
		require.NotContains(t, f.String(), "{named}")
		require.NotRegexp(t, `\{[a-zA-Z]+\}`, f.String(), "a part without a meaning")
		require.NotEmpty(t, f.has)
	}
}
