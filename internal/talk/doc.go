// Package talk has what the core asks of conversations, which are lists of messages: whether they are equal,
// valid and printable, and which calls are still open.
package talk
