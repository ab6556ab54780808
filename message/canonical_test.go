package message_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
)

// The digest of a prompt is that of the canonical JSON of its messages, which are written without sorting.
func TestMessagesAreDeclaredInCanonicalOrder(t *testing.T) {
	said := []message.Message{{
		CallID: "c1", Calls: []message.Call{{Arguments: `{"b":1, "a":"<é>"}`, ID: "c1", Name: "book"}}, IsError: true, Name: "book",
		Opaque: "o", Role: message.Tool, Text: "<é>\u2028\n",
		Parts: []message.Part{{Data: "AA==", Kind: message.ImagePart, MediaType: "image/png", Name: "n", Text: "t", URL: "u"}},
	}}
	declared, err := canon.AppendDeclared(nil, said)
	require.NoError(t, err)
	canonical, err := canon.Marshal(said)
	require.NoError(t, err)
	assert.Equal(t, string(canonical), string(declared))
	for _, name := range []string{"call_id", "calls", "is_error", "name", "opaque", "parts", "role", "text", "arguments", "id", "data", "kind", "media_type", "url"} {
		assert.Contains(t, string(declared), `"`+name+`":`)
	}
}
