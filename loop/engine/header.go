package engine

import (
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
)

// Header returns the header of a run's journal, except for what [journal.Journal.Begin] sets.
func Header(m machine.Config, on Offer) journal.Header {
	h := journal.Header{Config: m}
	for _, t := range on.Tools.All() {
		on := journal.Tool{Name: t.Name(), Schema: journal.SchemaDigest(t.Parameters())}
		if words := t.Description(); words != "" {
			on.Description = journal.SchemaDigest([]byte(words))
		}
		h.Tools = append(h.Tools, on)
	}
	if on.Output != nil {
		h.Output = journal.SchemaDigest(on.Output.JSON())
	}
	return h
}
