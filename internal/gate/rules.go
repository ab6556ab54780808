package gate

// Layers are the packages of the core module, lowest layer first. A package may only import packages of lower
// layers.
var Layers = [][]string{
	{"internal/after", "internal/canon", "internal/chain", "internal/seq", "internal/httphint", "internal/race",
		"internal/sealedline", "internal/several", "internal/stack", "internal/syntax"},
	{"internal/fields", "internal/masked"},
	{"backoff", "fault", "reducer", "message"},
	{"extract", "internal/contain", "internal/talk", "internal/typed"},
	{"policy", "feedback", "ratelimit", "schema"},
	{"internal/prompt", "limit", "loop/projection"},
	{"session", "tool", "policy/file", "result"},
	{"loop/machine", "internal/simulate", "limit/limiter"},
	{"journal", "loop/observe", "loop/planner"},
	{"internal/mail"},
	{"loop/engine", "journal/inbox", "journal/sealed", "report/internal/look", "report/internal/told"},
	{"loop"},
	{"looptest", "loop/agent", "loop/engine/usercode"},
	{"loop/degrade", "internal/fixture"},
	{"looptest/scenario", "looptest/random", "journal/journaltest", "limit/limittest", "report", "internal/corpus"},
	{"report/console"},
}

// Outside are packages outside the layers: tests of the repo itself.
var Outside = []string{"internal/browser", "internal/gate", "policy/internal/draw"}

// Pure are the packages that must give the same result for the same input on every machine and in every run.
var Pure = []string{
	"internal/canon", "internal/chain", "internal/httphint", "internal/several", "internal/syntax",
	"internal/fields", "internal/masked",
	"internal/sealedline", "internal/seq", "internal/talk", "internal/typed", "backoff", "fault", "ratelimit",
	"reducer", "message", "extract", "policy", "feedback",
	"internal/prompt", "result", "session", "loop/projection", "loop/machine", "limit", "internal/simulate",
}

// BannedImports are the packages that a pure package must not import, with the reason. A path includes the
// packages below it.
var BannedImports = map[string]string{
	"crypto/rand":                        "randomness cannot be replayed: derive it from the seed",
	"math/rand":                          "randomness cannot be replayed: derive it from the seed",
	"net":                                "no I/O in the core: it enters as an event",
	"os":                                 "no I/O in the core: it enters as an event",
	"io/ioutil":                          "no I/O in the core: it enters as an event",
	"log":                                "the core is silent: the driver logs what it records",
	"syscall":                            "no I/O in the core: it enters as an event",
	"runtime":                            "results may not depend on the machine",
	"hash/maphash":                       "its seed is random",
	"testing":                            "test helpers belong in test files",
	"github.com/go-playground/validator": "validators do not reach the core: it sees issues",
	"github.com/santhosh-tekuri":         "validators do not reach the core: it sees issues",
	"github.com/invopop":                 "validators do not reach the core: it sees issues",
	"github.com/benbjohnson/clock":       "time enters as a field of the event",
}

// BannedCalls are the functions that a pure package must not use, with the reason.
var BannedCalls = map[string]string{
	"time.Now":             clock,
	"time.Since":           clock,
	"time.Until":           clock,
	"time.Sleep":           clock,
	"time.After":           clock,
	"time.AfterFunc":       clock,
	"time.Tick":            clock,
	"time.NewTimer":        clock,
	"time.NewTicker":       clock,
	"time.Local":           "results may not depend on the machine's time zone",
	"context.WithTimeout":  clock,
	"context.WithDeadline": clock,
	"context.AfterFunc":    "nothing in the core waits: cancellation is an event",
	"maps.Keys":            order,
	"maps.Values":          order,
	"maps.All":             order,
	"fmt.Print":            silent,
	"fmt.Printf":           silent,
	"fmt.Println":          silent,
}

const (
	clock  = "time enters as a field of the event"
	order  = "map order differs between runs: walk canon.Keys(m)"
	silent = "the core is silent: the driver logs what it records"
)
