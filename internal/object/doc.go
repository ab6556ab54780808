// Package object takes a JSON object apart into its members, for readers that tell what is wrong with each by its name. It is a
// pure function and never fails: what is no object is told in words.
package object
