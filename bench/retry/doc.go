// Package retry measures the rows of delays and of Do, beside Go's retry libraries. Everything is in its
// tests.
package retry
