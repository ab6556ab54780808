// Package fields reads, writes, shows and checks structs of settings by the tags of their fields. Policies
// and backoff strategies are read through it, so that a mistake is told in the same words wherever it was
// made.
//
// A tag has the name of the field in files, and what it may hold beyond what its Go type says:
//
//	policy:"max_attempts,unlimited,least=1"   the word unlimited stands for -1; any other is 1 or more
//	policy:"tool_timeout,unlimited,positive"  more than 0
//	policy:"no_progress,off,correction"       the word off stands for 0; of no meaning for the transport plane
//	policy:"stop,absent,least=1"              0 means that nothing was said; a file leaves the key out
//	policy:"hold,absent,most=24h"             no longer, or no larger, than that
//	policy:"polling,correction,calls"         of no meaning for the final answer, either
//	policy:"cost,millionths"                  of a unit of money
//	policy:"retry_after,words=floor|first"    one of the words
//	policy:"retryable_errors,each=class"      each entry, or key, is a name that the check of that name accepts
//
// Fields after the first without a tag are not read. A type with UnmarshalJSON reads itself. Everything is a
// pure function of its arguments.
package fields
