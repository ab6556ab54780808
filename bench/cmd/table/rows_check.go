package main

const (
	noTypes   = "tools take a string: nothing is checked"
	noStrict  = "its strict schemas refuse maps; without a schema it is encoding/json"
	emailNote = "The email rule by hand is shorter than the validator's. Of the document's bytes each makes the same struct; encoding/json sees no duplicate keys, and without `DisallowUnknownFields` no unknown ones; google/jsonschema-go, beneath ADK and MCP, checks no formats."
)

var checkRows = []row{
	{
		name: "check, good", bench: "CheckGood", to: "std_validator",
		work: "A reply of 1 KB into a struct of eight fields (nested, enum, email, list of structs, map): every rule checked, unknown and duplicate keys refused.",
		lines: []line{
			{name: "floor", text: "by hand in one pass, for this type alone"},
			{name: "ours", text: "retake, `schema.Typed.Decode`"},
			{name: "jsonv2_validator", text: "go-json-experiment + validator"},
			{name: "std_validator", text: "encoding/json + validator"},
			{name: "std_strict_validator", text: "encoding/json, no unknown fields, no more after it, + validator"},
			{name: "eino_validator", text: "Eino's tool + validator"},
			{name: "fantasy_validator", text: "fantasy's tool + validator"},
			{name: "adk", text: "ADK's function tool, our schema"},
			{name: "mcp", text: "MCP go-sdk's typed tool, our schema: the server's handler, without its transport"},
			{name: "genkit", text: "Genkit's tool, our schema"},
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
		notes: []string{"Ours refuses duplicate keys too; google/jsonschema-go checks no formats."},
	},
	{
		name: "check, bad", bench: "CheckBad", to: "std_validator",
		work: "The same with three faults (a word that is not in the enum, text for a number, a code that is too short), and a text for the model that names them.",
		lines: []line{
			{name: "floor", text: "by hand in one pass: all three, with their places"},
			{name: "ours", text: "retake, from a type: all three, as pointers and words, sorted"},
			{name: "ours_raw", text: "retake, from a raw schema: the same"},
			{name: "std_validator", text: "encoding/json + validator: all three, one of them twice"},
			{name: "std_strict_validator", text: "the same, no unknown fields"},
			{name: "jsonv2_validator", text: "go-json-experiment + validator: stops at the first, then faults of its own making"},
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
		work:  "A whole run over a model in memory: bad arguments, feedback, good arguments, result, answer. The arguments are the document above, with text for a number at first. Tools, agents and graphs are made once.",
		aims:  []aim{{line: "ours", unit: "ns/op", most: 1.2, of: "hand"}, {line: "ours", unit: "ns/op", most: 1, of: "eino_react"}},
		notes: []string{"Ours does more than any line here: it keeps a session with attempts and feedback, holds the run to layered policies and budgets, and could be replayed. By hand there is one number of attempts."},
	},
	{
		name: "run, small", bench: "RunSmall", to: "hand", lines: runLines,
		work: "The same with arguments of three fields, two of them bad at first: the decoders of Eino, fantasy and openai-agents-go and the schema of ADK name one.",
		aims: []aim{{line: "ours", unit: "ns/op", most: 2, of: "hand"}},
	},
}

var runLines = []line{
	{name: "floor", text: "by hand, arguments checked in one pass for that type alone"},
	{name: "hand", text: "by hand, strict encoding/json + validator"},
	{name: "ours", text: "retake, `Run` with a new session"},
	{name: "eino_react", text: "Eino's react agent, middleware that feeds errors back, validator in the tool"},
	{name: "eino_adk", text: "Eino's ADK, the same tool"},
	{name: "openai_agents", text: "openai-agents-go, validator in the tool"},
	{name: "fantasy", text: "fantasy, validator in the tool"},
	{name: "langchaingo", text: "langchaingo, functions agent, a tool that checks its own string"},
	{name: "adk", text: "ADK with retryandreflect, our schema"},
	{name: "genkit", text: "Genkit, our schema, middleware that feeds errors back"},
	{name: "mcp", text: "MCP go-sdk", why: "it has tools and no loop"},
}
