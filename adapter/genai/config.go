package genai

import "github.com/retake-go/retake/adapter/kit"

// Config configures a [Model]. Only Model is required. The zero value of every other field uses the API's
// default. All of it is data except OnResponse. Set anything else for all requests of a client:
// sdk.HTTPOptions.ExtraBody.
type Config struct {
	// Model is the name of the model at the API: "gemini-3-pro". The name of a model in a policy or a
	// ladder is not sent.
	Model string `json:"model"`
	// MaxTokens bounds the reply, thoughts included, in tokens; 0 uses the API's default. Under a budget of
	// tokens or money set it to at most what the model can write: what is left is asked for otherwise, and
	// Vertex AI refuses a bound above the model's own.
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// Temperature is from 0 to 2; nil uses the API's default. Google advises against values other than 1
	// for Gemini 3.
	Temperature *float64 `json:"temperature,omitempty"`
	// TopP is above 0 and at most 1; nil uses the API's default.
	TopP *float64 `json:"top_p,omitempty"`
	// Seed makes a model repeat itself as far as it can; it has 32 bits, and nil means chance.
	Seed *int64 `json:"seed,omitempty"`
	// Thinking bounds what the model thinks before it answers.
	Thinking Thinking `json:"thinking,omitzero"`
	// ShowThinking returns what the model thought, or a summary of it, as Reply.Thinking.
	ShowThinking bool `json:"show_thinking,omitempty"`
	// Output selects how to ask for a structured answer.
	Output Output `json:"output,omitempty"`
	// OnResponse is called with every successful response, before Reply returns. It may be called
	// concurrently; nil calls nothing. The error of a failed response has the same data.
	OnResponse func(kit.Response) `json:"-"`
}

// Thinking bounds what a model thinks. At most one field may be set. The zero value leaves it to the API.
type Thinking struct {
	// Level is "minimal", "low", "medium" or "high", for models from Gemini 3 on.
	Level string `json:"level,omitempty"`
	// Budget is in tokens: 0 for no thoughts, -1 to leave it to the model. It is for Gemini 2.5.
	Budget *int32 `json:"budget,omitempty"`
}

// Output selects how to ask for a structured answer.
type Output string

const (
	// OutputNative, the zero value, sends the schema to the API (responseJsonSchema). If the request has
	// tools, the schema goes into the system instruction instead: models before Gemini 3 refuse the two
	// together.
	OutputNative Output = ""
	// OutputBesideTools sends the schema to the API with tools, too.
	OutputBesideTools Output = "beside_tools"
	// OutputInstructions puts the schema into the system instruction only, for models without structured
	// output and for schemas that the API refuses.
	OutputInstructions Output = "instructions"
)

// Validate returns an error that joins one for each field that is out of bounds, each with the valid
// values.
func (c Config) Validate() error {
	var f kit.Faults
	f.Model(c.Model)
	f.Tokens("MaxTokens", c.MaxTokens)
	f.Range("Temperature", c.Temperature, 0, 2)
	f.Share("TopP", c.TopP)
	f.Refuse(c.Seed != nil && int64(int32(*c.Seed)) != *c.Seed, "Seed: must fit into 32 bits, or be nil")
	kit.OneOf(&f, "Thinking.Level", c.Thinking.Level, "", "minimal", "low", "medium", "high")
	f.Refuse(c.Thinking.Budget != nil && *c.Thinking.Budget < -1,
		"Thinking.Budget: must be -1 or more, or nil")
	f.Refuse(c.Thinking.Budget != nil && c.Thinking.Level != "",
		"Thinking: has a level and a budget; set only one of them")
	kit.OneOf(&f, "Output", c.Output, OutputNative, OutputBesideTools, OutputInstructions)
	return f.Err()
}
