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
