package kit

import "net/http"

// CutTexts and OtherProtocols are the tables of texts.
var CutTexts, OtherProtocols = cutTexts, otherProtocols

// The names that only the kit itself uses.
var (
	Elsewhere, Bounded, Key, SameOrigin = elsewhere, boundedBody, keyOf, sameOrigin
	ReceivedAt, Line, Why, Word         = receivedAt, oneLine, whyOf, word
	Cut, Splitter, WantsTLS, ReadError  = cut, splitter, wantsTLS, readError
)

// Said is what the body of an error says.
type Said = saidError

// Came records a response.
func (h *Head) Came(resp *http.Response) { h.came(resp) }

const (
	MaxReply = maxReply
	NotRun   = notRun
)
