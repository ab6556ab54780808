package fault

// Sealed is an error that ends work of its own: a run, an action, a call of a tool, a panic. What it wraps
// was said about that work. Around it the error is one like any other: [TypedFailure], and what a tool's
// error says about its call, do not look into it. errors.Is and errors.As do.
type Sealed interface {
	error
	// Sealed reports whether the error is of other work than a call of the named tool.
	Sealed(tool string) bool
}
