package ollama

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/retake-go/retake/adapter/kit"
)

// DefaultURL is Ollama's usual address.
const DefaultURL = "http://127.0.0.1:11434"

// Config configures a [Model]. Only Model is required. The zero value of every other field uses the
// server's default. All of it is data except OnResponse. No environment variable is read.
type Config struct {
	// URL is the address of the server, http or https; empty means [DefaultURL].
	URL string `json:"url,omitempty"`
	// Key is sent as a bearer token, for remote servers; empty for none. It is in no error, in no JSON form
	// and in nothing that package fmt prints.
	Key string `json:"-"`
	// Model is the name of the model at the server: "qwen3:8b". The name of a model in a policy or a
	// ladder is not sent.
	Model string `json:"model"`
	// MaxTokens bounds the reply, thoughts included, in tokens; 0 uses the server's default.
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// ContextTokens is the size of the context, in tokens; 0 uses the server's default, which is small
	// (4096 on many machines).
	ContextTokens int64 `json:"context_tokens,omitempty"`
	// Temperature is 0 or more; nil uses the server's default.
	Temperature *float64 `json:"temperature,omitempty"`
	// Seed makes a model repeat itself; nil means chance.
	Seed *int64 `json:"seed,omitempty"`
	// Options are further options of the API by name, such as "top_p" and "repeat_penalty". Options with a
	// field of their own are refused.
	Options map[string]json.RawMessage `json:"options,omitempty"`
	// Think is how a model thinks before it answers: "on", "off", "low", "medium", "high" or "max"; not every
	// model supports every way. Empty leaves it to the server.
	Think string `json:"think,omitempty"`
	// KeepAlive is how long the model stays in memory after the request. Negative means for ever; nil uses
	// the server's default.
	KeepAlive *time.Duration `json:"keep_alive_ns,omitempty"`
	// Truncate lets the server drop the oldest messages of a conversation that does not fit into the
	// context. Without it such a request fails with class context_length, and a reply that fills the
	// context ends with finish reason length.
	Truncate bool `json:"truncate,omitempty"`
	// Output selects how to ask for a structured answer.
	Output Output `json:"output,omitempty"`
	// OnResponse is called with every successful response, before Reply returns. It may be called
	// concurrently; nil calls nothing. The error of a failed response has the same data.
	OnResponse func(kit.Response) `json:"-"`
}

// thinks are the ways to think.
var thinks = []string{"", "on", "off", "low", "medium", "high", "max"}

// thinking returns a way to think as the value of the API.
func thinking(way string) json.RawMessage {
	switch way {
	case "":
		return nil
	case "on", "off":
		return json.RawMessage(strconv.FormatBool(way == "on"))
	}
	return kit.Quote(way)
}

// Output selects how to ask for a structured answer.
type Output string

const (
	// OutputNative, the zero value, sends the schema as the API's format and in the system prompt; with
	// tools only in the system prompt.
	OutputNative Output = ""
	// OutputInstructions puts the schema into the system prompt only, for servers without format and
	// schemas that they refuse.
	OutputInstructions Output = "instructions"
)

// fieldOptions are the options of the API that have a field of their own.
var fieldOptions = map[string]string{"num_predict": "MaxTokens", "num_ctx": "ContextTokens",
	"temperature": "Temperature", "seed": "Seed"}

// Format implements [fmt.Formatter]: no log has the key.
func (c Config) Format(to fmt.State, verb rune) {
	type shown Config
	if c.Key != "" {
		c.Key = "[key left out]"
	}
	fmt.Fprintf(to, fmt.FormatString(to, verb), shown(c))
}

// Validate returns an error that joins one for each field that is out of bounds, each with the valid
// values.
func (c Config) Validate() error {
	var f kit.Faults
	f.Address(cmp.Or(c.URL, DefaultURL), c.Key, path)
	f.Model(c.Model)
	f.Tokens("MaxTokens", c.MaxTokens)
	f.Tokens("ContextTokens", c.ContextTokens)
	f.Refuse(c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= math.MaxFloat32),
		"Temperature: must be 0 or more, or nil")
	kit.OneOf(&f, "Think", c.Think, thinks...)
	kit.OneOf(&f, "Output", c.Output, OutputNative, OutputInstructions)
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		f.Refuse(fieldOptions[name] != "", "Options: %q is the field %s: set that", name, fieldOptions[name])
		f.Refuse(!json.Valid(c.Options[name]), "Options: %q must be JSON", name)
	}
	return f.Err()
}
