// Package genkit measures the rows of checks and runs with genkit, in its own module, because it needs
// another version of the schema generator than retake. Everything is in its tests.
package genkit
