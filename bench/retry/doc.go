// Package retry measures the rows of delays and of Do, beside the retry libraries of Go. Everything is in its
// tests.
package retry
