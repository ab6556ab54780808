package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/fields"
)

// The exit statuses: see exitTable.
const (
	exitOK      = 0
	exitNotOK   = 1
	exitTrouble = 2
)

// exitTable says what the exit statuses mean. They are the same for every command.
const exitTable = `exit status:
  0  the question was answered
  1  the answer is no: a reply cannot be used (check), a session is exhausted (play), something differs
     (replay, diff), a journal is damaged (verify), or what is said is not taken (answer, say)
  2  there is no whole answer: wrong usage, or an input that is missing, damaged or cannot be used
`

// errNotOK is the exit status of the answer "no". The answer itself has been written.
var errNotOK = errors.New("not ok")

// misuse is an error of usage. Its text names the flag and says what would be right.
type misuse struct{ error }

func (m *misuse) Unwrap() error { return m.error }

func misused(format string, args ...any) error { return &misuse{fmt.Errorf(format, args...)} }

// task is one call of a command.
type task interface {
	// run does the work after the flags were parsed.
	run(e *env) error
}

// newTask begins a call of a command, whose task is a T.
func newTask[T any, P interface {
	*T
	task
}]() task {
	return P(new(T))
}

// taker is a task with arguments besides its flags.
type taker interface {
	// take is called once after the flags were parsed. Its error is a misuse.
	take(args []string) error
}

// chooser is a task that chooses among its inputs by what is in them.
type chooser interface {
	choose(e *env) error
}

// command is one row of the list of commands.
type command struct {
	name string
	// alias is another name that works; empty for none.
	alias   string
	summary string
	// example is a call as one makes it.
	example string
	// usage has one line for each way to call it, without "retake".
	usage []string
	about string
	task  func() task
}

func commands() []command {
	return []command{
		checkCommand, playCommand, delaysCommand, limitsCommand, classifyCommand, showCommand, replayCommand,
		serveCommand, pendingCommand, answerCommand, sayCommand, verifyCommand, diffCommand, whatifCommand,
		tuneCommand, simulateCommand, compactCommand, pruneCommand, versionCommand, completionCommand,
	}
}

func main() { os.Exit(execute(newEnv(), os.Args[1:])) }

// helpNames ask for help, and so does one after the other.
var helpNames = []string{"help", "-h", "-help", "--help"}

// execute runs one command line and returns the exit status.
func execute(e *env, args []string) int {
	if len(args) == 0 {
		return e.fail("", misused("a command is missing\n%s", listCommands()))
	}
	name, rest := args[0], args[1:]
	if name == "--version" || name == "-version" {
		name = "version"
	}
	if slices.Contains(helpNames, name) {
		if len(rest) == 0 || slices.Contains(helpNames, rest[0]) {
			e.print(overview())
			return e.end("", nil)
		}
		name, rest = rest[0], []string{"-h"}
	}
	all := commands()
	at := slices.IndexFunc(all, func(c command) bool {
		return c.name == name || c.alias == name && name != ""
	})
	if at < 0 {
		near := didYouMean(name, commandNames())
		return e.fail("", misused("there is no command %q%s\n%s", name, near, listCommands()))
	}
	return e.end(name, perform(e, all[at], rest))
}

func commandNames() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// didYouMean suggests a known word that is close to another; empty if none is.
func didYouMean(word string, known []string) string {
	if near := fields.Near(word, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// perform parses the flags and arguments of a command and runs it.
func perform(e *env, c command, args []string) error {
	t := c.task()
	fs := c.flagSet(t)
	rest, err := parse(fs, args)
	if errors.Is(err, flag.ErrHelp) {
		e.print(c.help(fs))
		return nil
	}
	if err != nil {
		return misused("%s\nflags: %s", flagFault(fs, err), flagList(fs))
	}
	if takes, ok := t.(taker); ok {
		err = takes.take(rest)
	} else if len(rest) > 0 {
		err = misused("unexpected argument %q: every input is named by a flag\nflags: %s", rest[0],
			flagList(fs))
	}
	if err == nil {
		e.keys, err = readSealKeys(fs)
	}
	if chooses, ok := t.(chooser); ok && err == nil {
		err = chooses.choose(e)
	}
	if err != nil {
		return err
	}
	return t.run(e)
}

// flagFault says what is wrong with the flags, and suggests a flag for one that does not exist.
func flagFault(fs *flag.FlagSet, err error) string {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err.Error()
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, "-"+f.Name) })
	return fmt.Sprintf("there is no flag -%s%s", name, didYouMean("-"+name, known))
}

// parse parses flags before, between and after the arguments, and returns the arguments. After "--" there
// are only arguments.
func parse(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		after := fs.Args()
		if len(after) == 0 {
			return rest, refuseEmpty(fs, rest)
		}
		if ended := len(args) > len(after) && args[len(args)-len(after)-1] == "--"; ended {
			rest = append(rest, after...)
			return rest, refuseEmpty(fs, rest)
		}
		rest, args = append(rest, after[0]), after[1:]
	}
}

// refuseEmpty refuses empty names: a script leaves them by a variable that is not set. Only a seed may be
// empty.
func refuseEmpty(fs *flag.FlagSet, rest []string) (err error) {
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
