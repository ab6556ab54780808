package journal

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
)

// Configs are the configs of runs, which a [Follower] of each of many journals shares with the others: one
// that was seen before is not read and compiled again, whatever the request, the seed and the deadline of the
// run. The zero value has none. It is safe for concurrent use, and its memory is bounded.
type Configs struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]*machine.Compiled
	bytes int
	// shown keeps the system prompts of calls, for folds whose prompts are compared.
	shown bool
}

// maxConfigs is the most bytes of configs, as journals write them, that are kept.
const maxConfigs = 4 << 20

// ofRun are the members of a config that belong to one run. Common are the others, as an object.
type ofRun struct {
	RequestID string         `json:"request_id"`
	Seed      string         `json:"seed"`
	Deadline  time.Time      `json:"deadline"`
	Common    jsontext.Value `json:",embed"`
}

// header decodes a header, and returns the config that it shares with others, which has no request, seed and
// deadline; nil where it cannot be shared.
func (c *Configs) header(raw []byte) (Record, *machine.Compiled, error) {
	if h, compiled := c.shared(raw); compiled != nil {
		return Record{Header: h}, compiled, nil
	}
	rec, err := decode(raw)
	return rec, nil, err
}

// shared decodes a header with its config; without one if anything is wrong with it.
func (c *Configs) shared(raw []byte) (*Header, *machine.Compiled) {
	var rec struct {
		Header struct {
			Header
			Config ofRun `json:"config"`
		} `json:"header"`
	}
	if canon.UnmarshalKnown(raw, &rec) != nil || knownFormat(rec.Header.Format) != nil {
		return nil, nil
	}
	own := rec.Header.Config
	if canon.CheckID("request_id", own.RequestID) != nil {
		return nil, nil
	}
	compiled := c.compiled(own.Common)
	if compiled == nil {
		return nil, nil
	}
	h := &rec.Header.Header
	h.Config = *compiled.Config()
	h.Config.RequestID, h.Config.Deadline, h.Config.Seed = own.RequestID, own.Deadline, own.Seed
	return h, compiled
}

// compiled returns the config with a text; nil if the text is not that of a valid config.
func (c *Configs) compiled(text []byte) *machine.Compiled {
	sum := sha256.Sum256(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.known[sum]; known != nil {
		return known
	}
	cfg := new(machine.Config)
	if canon.UnmarshalKnown(text, cfg) != nil {
		return nil
	}
	made, err := machine.Compile(cfg)
	if err != nil {
		return nil
	}
	if c.bytes += len(text); c.known == nil || c.bytes > maxConfigs {
		c.known, c.bytes = map[[sha256.Size]byte]*machine.Compiled{}, len(text)
	}
	if !c.shown {
		made = made.Unseen()
	}
	c.known[sum] = made
	return made
}
