// Package httphint parses the numbers, durations, dates and waits in a provider's response: in headers, JSON
// bodies and sentences. It is pure: the current time is a parameter, and the machine's time zone does not
// matter.
//
// Packages fault and ratelimit share it, because they do not import each other. All input is untrusted:
// values have limits, and what cannot be parsed is an error, never a guess.
package httphint
