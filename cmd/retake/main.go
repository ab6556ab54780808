package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

// The exit statuses.
const (
	exitOK      = 0
	exitNotOK   = 1
	exitTrouble = 2
)

// errNotOK is the answer "not ok": it has been written, and there is nothing more to say.
var errNotOK = errors.New("not ok")

// misuse says that a command was called wrongly. Its text names the flag and what would be right.
type misuse struct{ text string }

func (m *misuse) Error() string { return m.text }

func misused(format string, args ...any) error { return &misuse{fmt.Sprintf(format, args...)} }

// task is one call of a command.
type task interface {
	// declare declares the flags, which set the task's fields.
	declare(fs *flag.FlagSet)
	// run does the work. Flags have been read, and there are no other arguments.
	run(e *env) error
}

// taker is a task that takes arguments beside its flags.
type taker interface {
	// take is called once, after the flags have been read. Its error is a misuse.
	take(args []string) error
}

// command is one row of the list of commands.
type command struct {
	name    string
	summary string
	// usage has one line for each way to call it, without "retake".
	usage []string
	about string
	task  func() task
}

func commands() []command {
	return []command{
		runCommand, checkCommand, delaysCommand, limitsCommand, classifyCommand, showCommand, replayCommand, diffCommand, whatifCommand,
	}
}

func main() { os.Exit(execute(newEnv(), os.Args[1:])) }

// execute runs one command line and returns the exit status.
func execute(e *env, args []string) int {
	if len(args) == 0 {
		return e.fail("", misused("a command is missing\n%s", listCommands()))
	}
	if isHelp(args[0]) {
		return help(e, args[1:])
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return perform(e, c, args[1:])
		}
	}
	return e.fail("", misused("there is no command %q\n%s", args[0], listCommands()))
}

func isHelp(arg string) bool {
	return arg == "help" || arg == "-h" || arg == "-help" || arg == "--help"
}

func help(e *env, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(e.out, overview())
		return e.end("", nil)
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return perform(e, c, []string{"-h"})
		}
	}
	return e.fail("", misused("there is no command %q\n%s", args[0], listCommands()))
}

// perform reads a command's flags and arguments and runs it.
func perform(e *env, c command, args []string) int {
	t := c.task()
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	t.declare(fs)
	rest, err := parse(fs, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(e.out, c.help(fs))
		return e.end(c.name, nil)
	case err != nil:
		return e.fail(c.name, misused("%v\nflags: %s", err, flagNames(fs)))
	}
	if takes, ok := t.(taker); ok {
		err = takes.take(rest)
	} else if len(rest) > 0 {
		err = misused("unexpected argument %q: every input is named by a flag\nflags: %s", rest[0], flagNames(fs))
	}
	if err == nil {
		err = t.run(e)
	}
	return e.end(c.name, err)
}

// empty refuses names that are empty, as those of variables that are not set in a script. Only a seed may be.
func empty(fs *flag.FlagSet, rest []string) (err error) {
	if slices.Contains(rest, "") {
		return errors.New("an argument is empty: give a name, or leave it out")
	}
	fs.Visit(func(f *flag.Flag) {
		getter, ok := f.Value.(flag.Getter)
		if what, _ := flag.UnquoteUsage(f); ok && getter.Get() == "" && f.Name != "seed" && err == nil {
			err = fmt.Errorf("-%s is empty: give a %s, or leave the flag out", f.Name, what)
		}
	})
	return err
}

// parse reads flags wherever they stand among the arguments, and returns the others. After "--" there are no
// flags.
func parse(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		after := fs.Args()
		if len(after) == 0 {
			return rest, empty(fs, rest)
		}
		if ended := len(args) > len(after) && args[len(args)-len(after)-1] == "--"; ended {
			rest = append(rest, after...)
			return rest, empty(fs, rest)
		}
		rest, args = append(rest, after[0]), after[1:]
	}
}
