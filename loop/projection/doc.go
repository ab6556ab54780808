// Package projection makes the prompt from a conversation: a prompt shows all messages except those that were
// cut, and the record keeps everything. It is pure: cuts are decided by [Plan] from the conversation and the
// rules of a policy, recorded as data, and carried out by [Apply].
//
// What comes out is as valid for a provider as the conversation was. Cuts take whole turns: a reply leaves
// with all of its answers, or stays with all of them, unchanged. A result can be replaced by a note about it.
// However old a call is that may have had an effect, one line about it stays in the prompt.
package projection
