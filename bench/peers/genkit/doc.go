// Package genkit measures the rows of checks and runs with genkit, in a module of its own: it does not build
// beside the version of the schema generator that retake uses. Everything is in its tests.
package genkit
