// Package wire holds what the provider adapters share: the order in which APIs want calls and their answers,
// arguments that are not JSON objects, ids of calls, JSON objects whose members keep their order, and errors.
//
// Nothing here knows a provider except the table of [Quirks], and nothing does I/O. Everything is safe for concurrent use.
package wire
