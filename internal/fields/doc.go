// Package fields reads, writes, shows and checks structs of settings by tables: a [Table] has a [Row] for
// each field, and a row has the field's name and its [Type]. Policies, backoff strategies and their files are
// all read through it, so that a mistake is told in the same words wherever it was made.
//
// Everything in it is a pure function of its arguments. Tables are read-only once the packages are
// initialized.
package fields
