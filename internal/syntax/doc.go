// Package syntax says what would be right where a text stops being JSON. It has a fixed phrase for each
// common mistake and finds it by the bytes around the error. It is pure and never fails.
package syntax
