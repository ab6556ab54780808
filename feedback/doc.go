// Package feedback turns a failed attempt into words a model can act on, as a pure function: the same failure
// gives the same bytes in every run.
//
// [New] makes a [RetryFeedback], from the issues of a failed attempt and the feedback
// before it. [Render] turns it into a short text for the prompt: bounded, in one fixed wording per class of
// failure, and with everything the model or a user wrote neutralised by [Quote]. Words of one's
// own are a [Template], which package feedback/prompt reads.
//
// Nothing here reads a clock, the environment or a file, and no text of a decoder or validator is ever part
// of a result.
package feedback
