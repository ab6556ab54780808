package limit

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/fields"
)

// Fleet is what the calls of a whole fleet keep to: the section "fleet" of a policy file. The zero value
// leaves everything to the limiter, which learns it.
type Fleet struct {
	// Limit (limit) is what the limiter of each scope starts with. A scope in Scopes (scopes), by its name,
	// has what it says itself, and nothing of Limit.
	Limit  Config            `policy:"limit"`
	Scopes map[string]Config `policy:"scopes"`
	// MaxWait (max_wait) bounds how long a call waits; 0 means as long as its deadline allows.
	MaxWait time.Duration `policy:"max_wait,absent,most=744h"`
	// Processes (processes) is how many processes share a store, as far as is known. It matters while the
	// store cannot be reached. 0 means that it is not known.
	Processes int `policy:"processes,absent,least=1,most=1000"`
}

// UnmarshalJSON replaces fl with what the JSON says, in the form of policy files. It refuses unknown,
// duplicate and null members; the error joins all faults, each a [*backoff.FieldError], those of
// [Fleet.Validate] among them, and leaves fl unchanged.
func (fl *Fleet) UnmarshalJSON(data []byte) error {
	read, f := Fleet{}, fields.Collect()
	fields.Reader{Also: read.also}.Read(data, &read, f)
	f.Besides(read.check)
	if err := fields.Err[backoff.FieldError](f); err != nil {
		return err
	}
	*fl = read
	return nil
}

// also reads scopes, so that what could be read of them is checked even if not all could.
func (fl *Fleet) also(name string, v jsontext.Value, f fields.Faults) bool {
	if name != "scopes" {
		return false
	}
	fl.Scopes = map[string]Config{}
	fields.Members(v, f, func(scope string, v jsontext.Value, f fields.Faults) {
		var c Config
		fields.Read(v, &c, f)
		fl.Scopes[scope] = c
	})
	return true
}

// Validate reports every fault, each as a [*backoff.FieldError], joined. It returns nil if there is none.
func (fl Fleet) Validate() error {
	f := fields.Collect()
	fl.check(f)
	return fields.Err[backoff.FieldError](f)
}

func (fl *Fleet) check(f fields.Faults) {
	fields.Checks{}.Check(fl, f)
	for _, name := range canon.Keys(fl.Scopes) {
		if name == "" {
			f.At("scopes").Add("a scope has no name; write that of a model, such as openai/gpt-4.1")
		}
	}
}
