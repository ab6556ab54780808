package main

import (
	"flag"
	"io"
	"reflect"
	"strings"
)

// flagSet returns the flags of a command, which set the fields of t that have a tag "flag": the name of the
// flag and, unless it is a switch, of its value. The tag "help" says what it is for.
func (c command) flagSet(t task) *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	bind(fs, reflect.ValueOf(t).Elem())
	return fs
}

// bind declares the flags of the fields of a struct, and of what it embeds.
func bind(fs *flag.FlagSet, in reflect.Value) {
	for n := range in.NumField() {
		field := in.Type().Field(n)
		name, value, _ := strings.Cut(field.Tag.Get("flag"), " ")
		usage := field.Tag.Get("help")
		if value != "" { // as package flag takes it
			usage = strings.Replace(usage, value, "`"+value+"`", 1)
		}
		switch {
		case name != "":
			declare(fs, name, usage, in.Field(n).Addr().Interface())
		case field.Anonymous:
			bind(fs, in.Field(n))
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
	JSON bool `flag:"json" help:"write JSON" json:"-"`
}
