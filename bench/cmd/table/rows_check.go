package main

const (
	noTypes   = "its tools take a string, so nothing is checked"
	noStrict  = "its strict schemas refuse maps; without a schema it uses encoding/json"
	emailNote = "All lines make the same struct from the document. The email rule by hand is simpler than the validator's. encoding/json does not notice duplicate keys, nor unknown keys without `DisallowUnknownFields`. google/jsonschema-go, which ADK and MCP use, does not check formats."
)

var checkRows = []row{
	{
		name: "check, good", bench: "CheckGood", to: "std_validator",
		work: "Decodes a reply of 1 KB into a struct of eight fields (nested, enum, email, list of structs, map), checks every rule, and refuses unknown and duplicate keys.",
		lines: []line{
			{name: "floor", text: "by hand in one pass, for this type only"},
			{name: "ours", text: "retake, `schema.Typed.Decode`"},
			{name: "jsonv2_validator", text: "go-json-experiment + validator"},
			{name: "std_validator", text: "encoding/json + validator"},
			{name: "std_strict_validator", text: "encoding/json without unknown fields or trailing data + validator"},
			{name: "eino_validator", text: "Eino's tool + validator"},
			{name: "fantasy_validator", text: "fantasy's tool + validator"},
			{name: "adk", text: "ADK's function tool, retake's schema"},
			{name: "mcp", text: "MCP go-sdk's typed tool, retake's schema: the server's handler without a transport"},
			{name: "genkit", text: "Genkit's tool, retake's schema"},
			{name: "openai_agents", text: "openai-agents-go", why: noStrict},
			{name: "langchaingo", text: "langchaingo", why: noTypes},
		},
		aims:  []aim{{line: "ours", unit: "ns/op", most: 0.6, of: "std_validator"}},
		notes: []string{emailNote},
	},
	{
		name: "check, raw", bench: "CheckRaw", to: "santhosh",
		work: "The same document against the same rules as a raw JSON Schema.",
		lines: []line{
			{name: "ours_raw", text: "retake, `schema.Schema.Check`"},
			{name: "santhosh", text: "any + santhosh-tekuri/jsonschema"},
			{name: "google", text: "any + google/jsonschema-go"},
		},
		aims:  []aim{{line: "ours_raw", unit: "ns/op", most: 0.3, of: "santhosh"}},
		notes: []string{"retake refuses duplicate keys, too. google/jsonschema-go does not check formats."},
	},
	{
		name: "check, bad", bench: "CheckBad", to: "std_validator",
		work: "The same document with three faults (a word that is not in the enum, text instead of a number, a code that is too short). The result includes a text for the model that names the faults.",
		lines: []line{
			{name: "floor", text: "by hand in one pass: all three faults with their places"},
			{name: "ours", text: "retake, from a Go type: all three, as pointers and words, sorted"},
			{name: "ours_raw", text: "retake, from a raw schema: the same"},
			{name: "std_validator", text: "encoding/json + validator: all three, one of them twice"},
			{name: "std_strict_validator", text: "the same without unknown fields"},
			{name: "jsonv2_validator", text: "go-json-experiment + validator: stops at the first fault, then reports faults that are not there"},
			{name: "eino_validator", text: "Eino's tool + validator: one"},
			{name: "fantasy_validator", text: "fantasy's tool + validator: one"},
			{name: "adk", text: "ADK's function tool: one, not always the same"},
			{name: "mcp", text: "MCP go-sdk's typed tool: one, not always the same"},
			{name: "genkit", text: "Genkit's tool"},
			{name: "openai_agents", text: "openai-agents-go", why: noStrict},
			{name: "langchaingo", text: "langchaingo", why: noTypes},
		},
		aims: []aim{{line: "ours", unit: "ns/op", most: 0.75, of: "std_validator"}},
	},
	{
		name: "run", bench: "Run", to: "hand", lines: runLines,
		work:  "A whole run with a model in memory: bad arguments, feedback, good arguments, result, answer. The arguments are the document above; the first time they have text instead of a number. Tools, agents and graphs are made once.",
		aims:  []aim{{line: "ours", unit: "ns/op", most: 1.2, of: "hand"}, {line: "ours", unit: "ns/op", most: 1, of: "eino_react"}},
		notes: []string{"retake does more than the other lines: it keeps a session with attempts and feedback, applies layered policies and budgets, and can be replayed. The run by hand only counts attempts."},
	},
	{
		name: "run, small", bench: "RunSmall", to: "hand", lines: runLines,
		work: "The same with arguments of three fields, two of them bad the first time. The decoders of Eino, fantasy and openai-agents-go and the schema of ADK report only one of the two.",
		aims: []aim{{line: "ours", unit: "ns/op", most: 2, of: "hand"}},
	},
}

var runLines = []line{
	{name: "floor", text: "by hand, arguments checked in one pass for this type only"},
	{name: "hand", text: "by hand, strict encoding/json + validator"},
	{name: "ours", text: "retake, `Run` with a new session"},
	{name: "eino_react", text: "Eino's react agent, middleware that feeds errors back, validator in the tool"},
	{name: "eino_adk", text: "Eino's ADK, the same tool"},
	{name: "openai_agents", text: "openai-agents-go, validator in the tool"},
	{name: "fantasy", text: "fantasy, validator in the tool"},
	{name: "langchaingo", text: "langchaingo, functions agent, a tool that checks its own string"},
	{name: "adk", text: "ADK with retryandreflect, retake's schema"},
	{name: "genkit", text: "Genkit, retake's schema, middleware that feeds errors back"},
	{name: "mcp", text: "MCP go-sdk", why: "it has tools but no loop"},
}
