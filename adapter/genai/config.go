package genai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	sdk "google.golang.org/genai"

	"github.com/retake-go/retake/adapter/kit"
)

// Config configures a [Model]. Only Model is required. The zero value of every other field uses the API's
// default. All of it is data except OnResponse. Set anything else for all requests of a client:
// sdk.HTTPOptions.ExtraBody.
type Config struct {
	// Model is the name of the model at the API: "gemini-3-pro". The name of a model in a policy or a
	// ladder is not sent.
	Model string `json:"model"`
	// MaxTokens bounds the reply, thoughts included, in tokens; 0 uses the API's default.
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
	OnResponse func(Response) `json:"-"`
}

// Response is the data of a successful response beside the reply. All provider adapters share the type.
type Response = kit.Response

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

var levels = map[string]sdk.ThinkingLevel{
	"minimal": sdk.ThinkingLevelMinimal, "low": sdk.ThinkingLevelLow, "medium": sdk.ThinkingLevelMedium, "high": sdk.ThinkingLevelHigh,
}

// Validate returns an error that joins one for each field that is out of bounds, each with the valid
// values.
func (c Config) Validate() error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	refuse(strings.TrimSpace(c.Model) == "", "Model: is empty; name a model of the API")
	refuse(c.MaxTokens < 0 || c.MaxTokens > math.MaxInt32, "MaxTokens: must be 1 to %d, or 0 for the API's own bound, not %d", math.MaxInt32, c.MaxTokens)
	refuse(c.Seed != nil && int64(int32(*c.Seed)) != *c.Seed, "Seed: must fit into 32 bits, or be nil")
	refuse(c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2), "Temperature: must be from 0 to 2, or nil")
	refuse(c.TopP != nil && !(*c.TopP > 0 && *c.TopP <= 1), "TopP: must be above 0 and at most 1, or nil")
	_, known := levels[c.Thinking.Level]
	refuse(c.Thinking.Level != "" && !known, "Thinking.Level: %q is none of minimal, low, medium, high", c.Thinking.Level)
	refuse(c.Thinking.Budget != nil && *c.Thinking.Budget < -1, "Thinking.Budget: must be -1 or more, or nil")
	refuse(c.Thinking.Budget != nil && c.Thinking.Level != "", "Thinking: has a level and a budget; set only one of them")
	switch c.Output {
	case OutputNative, OutputBesideTools, OutputInstructions:
	default:
		refuse(true, "Output: %q is neither empty nor %q nor %q", c.Output, OutputBesideTools, OutputInstructions)
	}
	return errors.Join(faults...)
}

// Model is a loop.Model on Gemini. It is immutable and safe for concurrent use. The zero value is not
// usable: use [New].
type Model struct {
	models *sdk.Models
	cfg    Config
	// key is the API key, which must not be in an error.
	key string
	// extras is the client's own function that changes the body of a request; nil for none.
	extras sdk.ExtrasRequestProvider
}

// New returns a model with the configuration of client. It does not change client: it makes a second one,
// whose HTTP client also reads the responses. The error joins one for each field of cfg that is out of
// bounds.
//
// A client or transport of the user's own that follows redirects by itself is only found out afterwards: a
// reply from another host, port or scheme is refused, but the key may be known there.
func New(client *sdk.Client, cfg Config) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("genai: %w", err)
	}
	if client == nil {
		return nil, errors.New("genai: the client is nil; make one with the SDK's NewClient")
	}
	own := client.ClientConfig()
	transport := http.DefaultTransport
	if own.HTTPClient == nil {
		own.HTTPClient = &http.Client{}
	}
	if own.HTTPClient.Transport != nil {
		transport = own.HTTPClient.Transport
	}
	looking := kit.Guarded(own.HTTPClient)
	looking.Transport = reader{transport}
	own.HTTPClient = looking
	mine, err := sdk.NewClient(context.Background(), &own)
	if err != nil {
		return nil, errors.New("genai: a second client cannot be made from the client's configuration: " + kit.Redact(err.Error(), own.APIKey))
	}
	return &Model{models: mine.Models, cfg: cfg, key: own.APIKey,
		extras: own.HTTPOptions.ExtrasRequestProvider}, nil
}
