package tool

// Declared is what a tool declares of its calls. The zero value declares nothing: a call may have an effect,
// and running it twice may have two.
type Declared string

// The declarations, as they stand in records.
const (
	// DeclaredReadOnly: a call changes nothing.
	DeclaredReadOnly Declared = "read_only"
	// DeclaredIdempotent: a call that is made twice has the effect of one, by its arguments or by its
	// [IdempotencyKey].
	DeclaredIdempotent Declared = "idempotent"
)

// Option declares something of a tool, for [New] and [Raw].
type Option struct{ declared Declared }

// ReadOnly declares that a call changes nothing: it may be run again after a transport fault or a crash.
func ReadOnly() Option { return Option{DeclaredReadOnly} }

// Idempotent declares that running a call twice has the effect of running it once, by its arguments or by its
// [IdempotencyKey]: it may be run again after a transport fault or a crash.
func Idempotent() Option { return Option{DeclaredIdempotent} }

// declare takes over the options; of several the last counts.
func (t *Tool) declare(opts []Option) {
	for _, o := range opts {
		if o.declared != "" {
			t.declared = o.declared
		}
	}
}

// Declared is what the tool declares of its calls.
func (t *Tool) Declared() Declared { return t.declared }

// Repeatable reports whether a call may be run again where nobody knows whether it had its effect: the tool
// is declared read-only or idempotent.
func (t *Tool) Repeatable() bool {
	return t.declared == DeclaredReadOnly || t.declared == DeclaredIdempotent
}
