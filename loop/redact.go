package loop

import (
	"maps"
	"slices"

	"github.com/retake-go/retake/journal"
)

// Redact adds to rules what the schemas of a config mark as secret (`retake:"secret"` on a field, "x-secret"
// in a raw schema): places in the arguments of its tools and in its answer. rules itself does not change.
func Redact(rules journal.Redaction, cfg Config) journal.Redaction {
	tools := maps.Clone(rules.Tools)
	for _, t := range cfg.Tools.All() {
		secrets := t.Schema().Secrets()
		if len(secrets) == 0 {
			continue
		}
		if tools == nil {
			tools = map[string]journal.ToolRedaction{}
		}
		own := tools[t.Name()]
		own.Arguments = slices.Concat(own.Arguments, secrets)
		tools[t.Name()] = own
	}
	rules.Tools = tools
	if cfg.Output != nil {
		rules.Answer = slices.Concat(rules.Answer, cfg.Output.Secrets())
	}
	return rules
}
