// Package syntax says what would be right where a text stops being JSON: a fixed phrase for each common slip,
// found by the bytes around the first one that does not fit, and by nothing else. It is a pure function and
// never fails.
package syntax
