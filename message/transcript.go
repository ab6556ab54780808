package message

import "github.com/retake-go/retake/seq"

// Transcript is a conversation, oldest message first: append-only and shared, never copied. It is a value;
// reading it is safe for concurrent use.
type Transcript = seq.Log[Message]
