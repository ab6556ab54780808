package kit

import "net/http"

// CutTexts and OtherProtocols are the tables of texts.
var CutTexts, OtherProtocols = cutTexts, otherProtocols

// The functions that only the kit itself calls.
var (
	Elsewhere, Bounded, Key, SameOrigin = elsewhere, boundedBody, keyOf, sameOrigin
	ReceivedAt, Line, Why, Word         = receivedAt, oneLine, whyOf, word
)

// Came records a response.
func (h *Head) Came(resp *http.Response) { h.came(resp) }

// QuirkNames returns all names in the table of quirks.
func QuirkNames() (all []string) {
	for _, row := range quirks {
		all = append(all, row.names...)
	}
	return all
}
