// Package feedback turns a failed attempt into text for the model. It is pure: the same failure always gives
// the same bytes.
//
// [New] makes a [RetryFeedback] from the issues of a failed attempt and the feedback before it. [Render]
// turns it into a short text for the prompt. The text has a size limit and a fixed wording for each class of
// failure. Everything that the model or a user wrote is neutralised by [Quote]. A run has your own wording by
// loop.Config.Feedback; [RetryFeedback.Lines] has each issue in words, for a text that you make yourself.
//
// Nothing here reads a clock, the environment or a file. The result never contains the text of a decoder's or
// validator's error.
package feedback
