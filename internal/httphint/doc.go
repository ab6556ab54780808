// Package httphint reads what a provider's response says outright: numbers, durations, dates and waits in
// headers, JSON bodies and sentences. It is pure: time is a parameter and the machine's time zone plays no
// part.
//
// It is shared by fault and ratelimit, which do not import one another. Everything it reads is foreign:
// values are bounded, and what cannot be read is an error to be reported, never a guess.
package httphint
