package ollama

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
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
	// Key is sent as a bearer token, for remote servers; empty for none. It is in no error and in no JSON
	// form.
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
	// Think selects how a model thinks before it answers.
	Think Think `json:"think,omitempty"`
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
	OnResponse func(Response) `json:"-"`
}

// Response is the data of a successful response beside the reply. All provider adapters share the type.
type Response = kit.Response

// Think selects how a model thinks. The zero value leaves it to the server. Not every model supports every
// value.
type Think string

// The ways to think.
const (
	ThinkOn     Think = "on"
	ThinkOff    Think = "off"
	ThinkLow    Think = "low"
	ThinkMedium Think = "medium"
	ThinkHigh   Think = "high"
	ThinkMax    Think = "max"
)

// wireThink maps each value to that of the API.
var wireThink = map[Think]string{
	"": "", ThinkOn: "true", ThinkOff: "false", ThinkLow: `"low"`, ThinkMedium: `"medium"`, ThinkHigh: `"high"`, ThinkMax: `"max"`,
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

// Validate returns an error that joins one for each field that is out of bounds, each with the valid
// values.
func (c Config) Validate() error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	u, err := url.Parse(cmp.Or(c.URL, DefaultURL))
	good := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.RawQuery == "" &&
		u.Fragment == "" && u.User == nil
	refuse(!good, "URL: must be http or https with a host, and without user, query and fragment")
	refuse(strings.ContainsFunc(c.Key, func(r rune) bool { return r < ' ' || r > '~' }), "Key: must be of printable ASCII characters")
	refuse(strings.TrimSpace(c.Model) == "", "Model: is empty; name a model that the server has")
	refuse(c.MaxTokens < 0, "MaxTokens: must be at least 1, or 0 for the server's own bound, not %d", c.MaxTokens)
	refuse(c.ContextTokens < 0, "ContextTokens: must be at least 1, or 0 for the server's own, not %d", c.ContextTokens)
	refuse(c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= math.MaxFloat32), "Temperature: must be 0 or more, or nil")
	_, known := wireThink[c.Think]
	refuse(!known, "Think: %q is none of on, off, low, medium, high, max", c.Think)
	refuse(c.Output != OutputNative && c.Output != OutputInstructions, "Output: %q is neither empty nor %q",
		c.Output, OutputInstructions)
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		refuse(fieldOptions[name] != "", "Options: %q is the field %s: set that", name, fieldOptions[name])
		refuse(!json.Valid(c.Options[name]), "Options: %q must be JSON", name)
	}
	return errors.Join(faults...)
}

// Model is a loop.Model on one model of one server. It is immutable and safe for concurrent use. The zero
// value is not usable: use [New].
type Model struct {
	client *http.Client
	cfg    Config
	url    string
}

// New returns a model. client may be nil for [http.DefaultClient]; its timeout bounds whole replies. The
// error joins one for each field of cfg that is out of bounds.
//
// A client or transport of the user's own that follows redirects by itself is only found out afterwards: a
// reply from another host, port or scheme is refused, but the key may be known there.
func New(client *http.Client, cfg Config) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("ollama: %w", err)
	}
	cfg.Options = maps.Clone(cfg.Options)
	base := strings.TrimRight(cmp.Or(cfg.URL, DefaultURL), "/")
	return &Model{client: kit.Guarded(cmp.Or(client, http.DefaultClient)), cfg: cfg, url: base + "/api/chat"}, nil
}
