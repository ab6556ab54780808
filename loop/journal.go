package loop

import (
	"maps"
	"slices"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// recorder is what runs ask of a [journal.Journal]. They know it by this interface alone, so that a program without a journal
// does not link what writes one.
type recorder interface {
	Session() string
	Unfinished() bool
	Past() (*journal.Fold, error)
	Resumed(at time.Time, asked machine.EffectKind) error
	GoOn(st *machine.State, history message.Transcript) bool
	open(m machine.Config, cfg *Config, st machine.State) error
	tries(t *tries) error
	Step(ev machine.Event, effects []machine.Effect, st machine.State) error
	Note(n journal.Note) error
	Warning() string
}

// recorderOf is a journal as runs know it; nil for none.
func recorderOf(j *journal.Journal) recorder {
	if j == nil {
		return nil
	}
	return journaled{j}
}

// journaled is a journal that says itself what a run begins with.
type journaled struct{ *journal.Journal }

func (j journaled) open(m machine.Config, cfg *Config, st machine.State) error {
	return j.Begin(header(m, *cfg), st)
}

// header is what a journal says of a run at its beginning.
func header(m machine.Config, cfg Config) journal.Header {
	h := journal.Header{Config: m, Resolved: resolved(&m)}
	for _, t := range cfg.Tools.All() {
		on := journal.Tool{Name: t.Name(), Schema: journal.SchemaDigest(t.Parameters())}
		if words := t.Description(); words != "" {
			on.Description = journal.SchemaDigest([]byte(words))
		}
		h.Tools = append(h.Tools, on)
	}
	if cfg.Output != nil {
		h.Output = journal.SchemaDigest(cfg.Output.JSON())
	}
	return h
}

// resolved is what the policy comes to: for the answer or the single action, for the transport plane, and for each tool that
// the policy names.
func resolved(m *machine.Config) []journal.Resolved {
	_, own := policy.Resolve(m.Policy, m.Action)
	_, transport := policy.ResolveTransport(m.Policy)
	all := []journal.Resolved{{Action: m.Action, Explanation: own}, {Transport: true, Explanation: transport}}
	for _, name := range slices.Sorted(maps.Keys(m.Policy.Tools)) {
		_, e := policy.Resolve(m.Policy, name)
		all = append(all, journal.Resolved{Action: name, Explanation: e})
	}
	return all
}
