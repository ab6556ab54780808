package main

import (
	"flag"
	"io"
	"reflect"
	"regexp"
	"strings"
)

// sharedFlags are the flags that several commands have.
const sharedFlags = `
-json           write JSON
-html           write a page of HTML
-policy FILE    the policy: a YAML or JSON FILE, or preset:NAME
-key FILE       the secret key that redacted journals were written with: FILE
-seal-key FILE  the keys of sealed journals, one a line: FILE; by default $RETAKE_SEAL_KEYS
-now T          the time T at which the response came: 2030-01-02T15:04:05Z, or seconds since the epoch
-fail-on WHAT   exit with status 1 on WHAT: none, unreadable or any (the default)
-price LIST     what a million tokens cost: LIST of input=N, output=N, cache_read=N, cache_write=N, reasoning=N
-store STORE    the session is in STORE, by default $RETAKE_STORE or the current folder
-by NAME        NAME is who says so, by default $USER`

// flagRow is a line of a table of flags: a name, the name of the value unless it is a switch, and what the
// flag is for.
var flagRow = regexp.MustCompile(`(?m)^-(\S+)(?: (\S+))?  +(.+)$`)

// usages are what the flags of a command are for, by their names, as package flag takes it.
func (c command) usages() map[string]string {
	all := map[string]string{}
	for _, row := range flagRow.FindAllStringSubmatch(sharedFlags+c.flags, -1) {
		name, value, usage := row[1], row[2], row[3]
		if value != "" {
			usage = strings.Replace(usage, value, "`"+value+"`", 1)
		}
		all[name] = usage
	}
	return all
}

// flagSet are the flags of a command, which set the fields of t that have their names as tags.
func (c command) flagSet(t task) *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	bind(fs, c.usages(), reflect.ValueOf(t).Elem())
	return fs
}

// bind declares the flags of the fields of a struct, and of what it embeds.
func bind(fs *flag.FlagSet, usages map[string]string, in reflect.Value) {
	for n := range in.NumField() {
		field := in.Type().Field(n)
		name, is := field.Tag.Lookup("flag")
		switch {
		case is:
			declare(fs, name, usages[name], in.Field(n).Addr().Interface())
		case field.Anonymous:
			bind(fs, usages, in.Field(n))
		}
	}
}

// declare declares the flag that sets what to points to, which has its default.
func declare(fs *flag.FlagSet, name, usage string, to any) {
	switch to := to.(type) {
	case *bool:
		fs.BoolVar(to, name, *to, usage)
	case *string:
		fs.StringVar(to, name, *to, usage)
	case interface{ Set(text string) error }:
		fs.Func(name, usage, to.Set)
	}
}

// jsonAnswer is a part of tasks that can answer as JSON.
type jsonAnswer struct {
	JSON bool `flag:"json" json:"-"`
}
