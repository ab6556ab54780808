package main

import (
	"errors"
	"slices"
)

// failOn says which replies or sessions of a corpus make the exit status 1. The zero value is any.
type failOn struct {
	FailOn          failing `flag:"fail-on WHAT" help:"exit with status 1 on WHAT: none, unreadable or any (the default)"`
	bad, unreadable int
}

// failing is the value of -fail-on.
type failing string

// Set reads what fails.
func (f *failing) Set(text string) error {
	if *f = failing(text); !slices.Contains([]string{"none", "unreadable", "any"}, text) {
		return errors.New("give none, unreadable or any")
	}
	return nil
}

// failOnAbout follows what the exit status is 1 for.
const failOnAbout = `; all output is written before. With -fail-on
unreadable it is 1 only if something could not be read: no call, a reply that was cut off, arguments that are
no JSON. With -fail-on none it is 0.`

func (f *failOn) count(ok, unreadable bool) {
	if !ok {
		f.bad++
	}
	if !ok && unreadable {
		f.unreadable++
	}
}

// failed returns the error of the exit status.
func (f *failOn) failed() error {
	if failed := map[failing]int{"": f.bad, "any": f.bad, "unreadable": f.unreadable}; failed[f.FailOn] > 0 {
		return errNotOK
	}
	return nil
}
