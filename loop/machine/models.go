package machine

// ModelInfo is what is known of a model of a run. The zero value is a model of an unknown name that bounds its
// replies as a request asks.
type ModelInfo struct {
	// Name is the provider's name of the model, by which [github.com/retake-go/retake/policy.Prices] know it.
	Name string `json:"name,omitempty" redact:"keep"`
	// MaxOutputTokens is the most tokens that a reply has, with its reasoning, whatever a request asks; 0
	// means unknown. At least 0.
	MaxOutputTokens int64 `json:"max_output_tokens,omitempty"`
	// Unbounded reports that the model cannot bound its replies as a request asks: one reply may pass a
	// budget.
	Unbounded bool `json:"unbounded,omitempty"`
}
