package main

import (
	"errors"
	"flag"
	"slices"
)

// failOn says which replies or sessions of a corpus make the exit status 1. The zero value is any.
type failOn struct {
	when            string
	bad, unreadable int
}

const failOnAbout = `The exit status is 1 if a reply is refused or a session is exhausted;
all output is written before. With -fail-on unreadable it is 1 only if something could not be read: no call, a
reply that was cut off, arguments that are no JSON. With -fail-on none it is 0.`

func (f *failOn) declare(fs *flag.FlagSet) {
	usage := "exit with status 1 on `WHAT`: none, unreadable or any (the default)"
	fs.Func("fail-on", usage, func(s string) error {
		if f.when = s; !slices.Contains([]string{"none", "unreadable", "any"}, s) {
			return errors.New("give none, unreadable or any")
		}
		return nil
	})
}

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
	if failed := map[string]int{"": f.bad, "any": f.bad, "unreadable": f.unreadable}; failed[f.when] > 0 {
		return errNotOK
	}
	return nil
}
