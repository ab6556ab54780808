package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// overview returns the help of retake itself.
func overview() string {
	return "retake shows what retry policies, checks of replies and correction loops decide,\n" +
		"and reads the journals of runs.\n\n" + listCommands() + "\n" + exitTable +
		"\nretake COMMAND -h shows the help of a command.\n"
}

func listCommands() string {
	return "commands:\n" + columns(func(w io.Writer) {
		for _, c := range commands() {
			fmt.Fprintf(w, "  %s\t%s\n", c.name, c.summary)
		}
	})
}

// help returns the text that -h prints.
func (c command) help(fs *flag.FlagSet) string {
	usage := strings.Join(c.usage, "\n       retake ")
	text := "example: " + c.example + "\n\nusage: retake " + usage + "\n\n" + filled(strings.TrimSpace(c.about)) + "\n"
	flags := columns(func(w io.Writer) {
		fs.VisitAll(func(f *flag.Flag) {
			_, usage := flag.UnquoteUsage(f)
			fmt.Fprintf(w, "  %s\t%s\n", flagName(f), usage)
		})
	})
	if flags != "" {
		text += "\nflags:\n" + flags
	}
	return text
}

// filled breaks the lines of paragraphs anew. One with an indented line stays as it is.
func filled(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for n, p := range paragraphs {
		if !strings.Contains(p, "\n ") {
			paragraphs[n] = folded(strings.ReplaceAll(p, "\n", " "), "")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// folded breaks a long line between words and indents what follows.
func folded(line, indent string) string {
	const width = 110
	words := strings.Split(line, " ")
	b, used := words[0], len(words[0])
	for _, w := range words[1:] {
		if used+1+len(w) > width {
			b, used = b+"\n"+indent+w, len(indent)+len(w)
			continue
		}
		b, used = b+" "+w, used+1+len(w)
	}
	return b
}

func flagList(fs *flag.FlagSet) string {
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, flagName(f)) })
	return strings.Join(names, ", ")
}

// flagName returns a flag with the name of its value: "-policy FILE".
func flagName(f *flag.Flag) string {
	what, _ := flag.UnquoteUsage(f)
	return strings.TrimSpace("-" + f.Name + " " + what)
}

// columns aligns the text that write writes. Its cells end with a tab.
func columns(write func(io.Writer)) string {
	var text, trimmed strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	write(w)
	_ = w.Flush() // a strings.Builder does not fail
	for line := range strings.Lines(text.String()) {
		trimmed.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return trimmed.String()
}
