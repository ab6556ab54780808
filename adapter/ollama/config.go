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

	"github.com/retake-go/retake/adapter/internal/wire"
)

// DefaultURL is where Ollama listens unless told otherwise.
const DefaultURL = "http://127.0.0.1:11434"

// Config says how a model is asked. Only Model is required; of every other field the zero value leaves the
// choice to the server. It is data, but for OnResponse; no environment variable is read.
type Config struct {
	// URL is the server's, http or https; empty means [DefaultURL].
	URL string `json:"url,omitempty"`
	// Key is sent as a bearer token, as servers beyond this machine want one; empty for none. It stands in no
	// error and in no JSON form.
	Key string `json:"-"`
	// Model is the model's name as the server knows it: "qwen3:8b". Its name in a run's ladder is the run's
	// own, and is not sent.
	Model string `json:"model"`
	// MaxTokens bounds the reply, thoughts included, in tokens; 0 for the server's own bound.
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// ContextTokens is the size of the context, in tokens; 0 for the server's own, which is small (4096 on
	// many machines).
	ContextTokens int64 `json:"context_tokens,omitempty"`
	// Temperature is 0 or more, or nil.
	Temperature *float64 `json:"temperature,omitempty"`
	// Seed makes a model say the same to the same request; nil for chance.
	Seed *int64 `json:"seed,omitempty"`
	// Options are further options of the API, by name: "top_p", "repeat_penalty". Those that have fields
	// above are refused.
	Options map[string]json.RawMessage `json:"options,omitempty"`
	// Think says how a model thinks before it answers.
	Think Think `json:"think,omitempty"`
	// KeepAlive is how long the model stays in memory after the request; negative for ever, nil for the
	// server's own.
	KeepAlive *time.Duration `json:"keep_alive_ns,omitempty"`
	// Truncate lets the server leave out the oldest messages of a conversation that does not fit into the
	// context. Without it such a request fails with class context_length, and a reply that fills the context
	// up ends with finish reason length.
	Truncate bool `json:"truncate,omitempty"`
	// Output is how a structured answer is asked for.
	Output Output `json:"output,omitempty"`
	// OnResponse is called with every successful response, before Reply returns. It may be called
	// concurrently; nil calls nothing. The error of a failed response has the same data.
	OnResponse func(Response) `json:"-"`
}

// Response is the data of a successful response beside the reply. All provider adapters share the type.
type Response = wire.Response

// Think is how a model thinks. The zero value leaves it to the server. Which levels a model knows is for the
// server to say.
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

// wireThink is each way as the API has it.
var wireThink = map[Think]string{
	"": "", ThinkOn: "true", ThinkOff: "false", ThinkLow: `"low"`, ThinkMedium: `"medium"`, ThinkHigh: `"high"`, ThinkMax: `"max"`,
}

// Output is how a structured answer is asked for.
type Output string

const (
	// OutputNative, the zero value, gives the schema as the API's format and in the system prompt; with tools
	// on offer in the system prompt alone.
	OutputNative Output = ""
	// OutputInstructions gives it in the system prompt alone: for servers without format, and schemas they
	// refuse.
	OutputInstructions Output = "instructions"
)

// fieldOptions are the options of the API that have fields of their own.
var fieldOptions = map[string]string{"num_predict": "MaxTokens", "num_ctx": "ContextTokens", "temperature": "Temperature", "seed": "Seed"}

// Validate reports every field that is out of bounds, joined, each with what would be right.
func (c Config) Validate() error {
	var faults []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	u, err := url.Parse(cmp.Or(c.URL, DefaultURL))
	good := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil
	refuse(!good, "URL: must be http or https with a host, and without user, query and fragment")
	refuse(strings.ContainsFunc(c.Key, func(r rune) bool { return r < ' ' || r > '~' }), "Key: must be of printable ASCII characters")
	refuse(strings.TrimSpace(c.Model) == "", "Model: is empty; name a model that the server has")
	refuse(c.MaxTokens < 0, "MaxTokens: must be at least 1, or 0 for the server's own bound, not %d", c.MaxTokens)
	refuse(c.ContextTokens < 0, "ContextTokens: must be at least 1, or 0 for the server's own, not %d", c.ContextTokens)
	refuse(c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= math.MaxFloat32), "Temperature: must be 0 or more, or nil")
	_, known := wireThink[c.Think]
	refuse(!known, "Think: %q is none of on, off, low, medium, high, max", c.Think)
	refuse(c.Output != OutputNative && c.Output != OutputInstructions, "Output: %q is neither empty nor %q", c.Output, OutputInstructions)
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		refuse(fieldOptions[name] != "", "Options: %q is the field %s: set that", name, fieldOptions[name])
		refuse(!json.Valid(c.Options[name]), "Options: %q must be JSON", name)
	}
	return errors.Join(faults...)
}

// Model asks one model of one server. It never changes and is safe for concurrent use. The zero value is not
// usable: get one from [New].
type Model struct {
	client *http.Client
	cfg    Config
	url    string
}

// New makes a model. client may be nil for [http.DefaultClient]; a timeout of its own bounds whole replies.
// The error names every field of cfg that is out of bounds.
func New(client *http.Client, cfg Config) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("ollama: %w", err)
	}
	cfg.Options = maps.Clone(cfg.Options)
	base := strings.TrimRight(cmp.Or(cfg.URL, DefaultURL), "/")
	return &Model{client: cmp.Or(client, http.DefaultClient), cfg: cfg, url: base + "/api/chat"}, nil
}
