// Package message has the provider-neutral messages of a conversation: what is sent to a model and what it
// replies. They are plain values and are never changed once they are in a transcript. Adapters convert them
// to each provider's wire form.
package message
