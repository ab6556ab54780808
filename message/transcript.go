package message

import "github.com/retake-go/retake/seq"

// Transcript is a conversation, oldest message first. It is append-only and shared between states without
// copying. Reading it is safe for concurrent use.
type Transcript = seq.Log[Message]
