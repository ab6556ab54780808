package main

import (
	"flag"
	"fmt"
	"strings"
)

// overview is the help of retake itself.
func overview() string {
	return "retake shows what retry policies, checks of replies and correction loops decide, and replays their journals.\n\n" +
		listCommands() + "\nretake COMMAND -h says more. Every command takes -json.\n" +
		"Exit status: 0 answered, 1 \"not ok\" (check -tool, show, replay, diff), 2 bad usage or unusable input.\n"
}

func listCommands() string {
	var b strings.Builder
	b.WriteString("commands:\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-9s %s\n", c.name, c.summary)
	}
	return b.String()
}

// help is what -h prints.
func (c command) help(fs *flag.FlagSet) string {
	var b strings.Builder
	for n, line := range c.usage {
		lead := "usage: "
		if n > 0 {
			lead = "       "
		}
		b.WriteString(lead + "retake " + line + "\n")
	}
	b.WriteString("\n" + strings.TrimSpace(c.about) + "\n\nflags:\n")
	fs.VisitAll(func(f *flag.Flag) {
		name, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(&b, "  %-15s %s\n", strings.TrimSpace("-"+f.Name+" "+name), usage)
	})
	return b.String()
}

func flagNames(fs *flag.FlagSet) string {
	var names []string
	fs.VisitAll(func(f *flag.Flag) {
		name, _ := flag.UnquoteUsage(f)
		names = append(names, strings.TrimSpace("-"+f.Name+" "+name))
	})
	return strings.Join(names, ", ")
}
