package mcp

// The members of _meta that this package writes and reads. Other clients and servers ignore them. Those of a
// result count from any server, whatever [Config.TrustHints] is: only a server knows whether its tool ran.
const (
	// MetaIdempotencyKey of a call is the key of [tool.IdempotencyKey]. It stays the same if the call is
	// repeated after a transport fault or a crash. A server that keeps results by this key makes each call
	// once.
	MetaIdempotencyKey = "io.github.retake-go/idempotency-key"
	// MetaCallID of a call is the call's id in the model's reply; see [tool.CallID].
	MetaCallID = "io.github.retake-go/call-id"
	// MetaOutcome of a result of [Serve] is how the tool ended: "done" (the text is JSON), "text" (the
	// text is a plain string), "ask_again", "later", "failed", "in_doubt" (failed, and the effect may have
	// happened: the tool's words follow in further blocks) or "broke".
	MetaOutcome = "io.github.retake-go/outcome"
	// MetaInDoubt of a result, whatever its outcome, is true if the tool said that the call may have had an
	// effect that nobody knows of: see [tool.Doubt].
	MetaInDoubt = "io.github.retake-go/in-doubt"
	// MetaRetryAfter of a result with the outcome "later" is the least wait before the next call, in
	// milliseconds: see [tool.TryLater].
	MetaRetryAfter = "io.github.retake-go/retry-after-ms"
	// MetaWhole of a result with the outcome "failed" or "in_doubt" is whether its tool bounds what it says:
	// see [tool.FailedError].
	MetaWhole = "io.github.retake-go/whole"
	// MetaClass of a result with the outcome "broke" is the class of the tool's error; see package fault.
	MetaClass = "io.github.retake-go/class"
)

// The values of MetaOutcome.
const (
	outcomeDone     = "done"
	outcomeText     = "text"
	outcomeAskAgain = "ask_again"
	outcomeLater    = "later"
	outcomeFailed   = "failed"
	outcomeInDoubt  = "in_doubt"
	outcomeBroke    = "broke"
)

func metaText(meta map[string]any, key string) string {
	text, _ := meta[key].(string)
	return text
}
