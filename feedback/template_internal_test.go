package feedback

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWithoutPackagePromptATextIsAsItIs(t *testing.T) {
	read := parse
	parse = nil
	defer func() { parse = read }()
	cases := map[string]struct{ text, want string }{
		"plain":      {text: "You book rooms.\n"},
		"braces":     {text: "{ } }} { {"},
		"action":     {"a\nb {{attempt}}", `needs package prompt: import _ "github.com/retake-go/retake/feedback/prompt"`},
		"half":       {"{{", "prompt template: the text has an action"},
		"too_long":   {strings.Repeat("a", 64<<10+1), "prompt template: the text must be at most 65536 bytes, is 65537"},
		"as_long_as": {text: strings.Repeat("a", 64<<10)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := ParseTemplate(c.text, nil)
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			text, err := parsed.Prompt(nil, 1, 3, DefaultLimits())
			require.NoError(t, err)
			assert.Equal(t, c.text, text)
		})
	}
}
