// Package fleet plays other ways to limit a fleet's calls in the simulator of retake, beside its own limiter.
// They are written from what is published of them; only failsafe-go is the library itself.
package fleet
