// Package message holds the provider-neutral words of a conversation: what is said to a model and what it
// replies, as plain values that are never mutated once they stand in a transcript.
//
// Adapters map these to each provider's wire form; the pure core keeps them in its transcript; nothing here
// decides anything.
package message
