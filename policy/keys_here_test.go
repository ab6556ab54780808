package policy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/policy"
)

// What an unknown key of a layer is told to be instead is never refused there as a key without a meaning.
func TestAHintNamesOnlyKeysThatTheLayerTakes(t *testing.T) {
	in := map[string]string{"global": "%s", "answer": "%s", "call": "%s", "adjusted": "%s", "transport": "%s",
		"tools": `{"a": %s}`, "tool_transport": `{"a": %s}`}
	for layer, form := range in {
		read := func(member string) (s policy.Set, err error) {
			text := fmt.Sprintf(`{"%s": %s}`, layer, fmt.Sprintf(form, "{"+member+"}"))
			if err = json.Unmarshal([]byte(text), &s); err == nil {
				err = s.Validate()
			}
			return s, err
		}
		_, err := read(`"zzz": 1`)
		require.ErrorContains(t, err, "use one of ", layer)
		_, list, _ := strings.Cut(err.Error(), "use one of ")
		offered := map[string]bool{}
		for _, key := range strings.Split(list, ", ") {
			offered[key] = true
		}
		assert.True(t, offered["preset"] && offered["max_attempts"], layer)
		values := map[string]string{"model_timeout": `"3s"`, "tool_timeout": `"3s"`, "first_token_timeout": `"3s"`,
			"idle_timeout": `"3s"`, "classify_words": "true", "emit_feedback": "true", "identity": `["a"]`,
			"max_successes": "2", "no_progress": "2", "approval": `"first"`, "forms_off": "[]", "attempts": "[]",
			"equal_calls": `"run"`, "text_repairs": `"note"`, "polling": `"3s"`, "progress": "{}"}
		for key, value := range values {
			_, err := read(fmt.Sprintf(`"%s": %s`, key, value))
			refused := err != nil && (strings.Contains(err.Error(), "has no meaning") ||
				strings.Contains(err.Error(), "is not told about transport faults"))
			assert.Equal(t, !refused, offered[key], "%s.%s: %v", layer, key, err)
		}
	}
}

// A key that is spelt wrong and has no meaning where it stands is still told its name.
func TestAMisspeltKeyIsToldItsNameWhereverItStands(t *testing.T) {
	var s policy.Set
	require.ErrorContains(t, json.Unmarshal([]byte(`{"answer": {"max_sucesses": 2}}`), &s), "did you mean max_successes?")
}
