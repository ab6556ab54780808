package main

import (
	"errors"
	"flag"
)

// failOn says which replies or sessions of a corpus make the exit status 1. The zero value is any.
type failOn struct {
	when            string
	bad, unreadable int
}

// The values of -fail-on.
const (
	failNone       = "none"
	failUnreadable = "unreadable"
	failAny        = "any"
)

const failOnAbout = `The exit status is 1 if a reply is refused or a session is exhausted;
all output is written before. With -fail-on unreadable it is 1 only if something could not be read: no call, a
reply that was cut off, arguments that are no JSON. With -fail-on none it is 0.`

func (f *failOn) declare(fs *flag.FlagSet) {
	usage := "exit with status 1 on `WHAT`: none, unreadable or any (the default)"
	fs.Func("fail-on", usage, func(s string) error {
		if s != failNone && s != failUnreadable && s != failAny {
			return errors.New("give none, unreadable or any")
		}
		f.when = s
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
	failed := f.bad
	switch f.when {
	case failNone:
		failed = 0
	case failUnreadable:
		failed = f.unreadable
	}
	if failed > 0 {
		return errNotOK
	}
	return nil
}
