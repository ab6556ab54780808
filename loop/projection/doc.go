// Package projection makes the prompt from a conversation: a prompt shows all of its messages but for what
// was cut, and the record keeps everything. It is pure: cuts are decided by [Plan] from the conversation and
// the rules of a policy, recorded as data, and carried out by [Apply].
//
// What comes out is as valid for a provider as the conversation was. Cuts take whole turns: a reply leaves
// with all of its answers, or stays with all of them, unchanged. A result can be replaced by a note about it.
// Of a call that may have had an effect, a line stays in the prompt however old it is.
package projection
