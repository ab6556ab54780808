// Package wire holds what the adapters of providers have in common, so that the same transcript says the same
// to each: the order in which an API wants calls and their answers, arguments that are no JSON object, ids of
// calls, and JSON objects whose members keep their order.
//
// Nothing here knows a provider, and nothing does I/O. Everything may be used concurrently.
package wire
