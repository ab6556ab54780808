package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/corpus"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

var checkCommand = command{
	name:    "check",
	summary: "checks a model's reply or a policy, and shows what the model would be told",
	example: "retake check -tool book_room.json reply.txt",
	usage: []string{
		"check -tool TOOL.json [-policy FILE] [-since TIME] [-until TIME] [-json] [REPLY...]",
		"check -corpus FILE [-cut SHARE] [-policy FILE] [-fail-on none|unreadable|any] [-json]",
		"check -policy FILE [-json]",
	},
	about: `
Reads the tool calls in a reply and checks their arguments, as a run with loop.Config.CallsOnly does. A reply
is ok if it has at least one call and all of its calls can be used. No tool is run.

With -tool, REPLY is a file with one reply as text, a folder of such files, or standard input.
` + textsOfJournals + ` Of a journal the replies with calls are checked. TOOL.json is one object
{"name", "description", "parameters"} with a JSON Schema as its parameters, or a list of such objects. -policy
says which forms of calls are read and which repairs are accepted (forms_off, text_repairs, native_repairs).

With -corpus, FILE has one question a line: {"id", "tools": [...], "replies": [{"text"} or {"tool_calls":
[{"name", "arguments"}]}, ...]}. The arguments are the text that the model wrote. The answer has one line for
each reply, in the order of the file. -cut keeps only the first part of each text.
The exit status is 1 if a reply is refused` + failOnAbout + `

With -policy alone the policy is checked. The answer is "ok", the error classes in it that retake does not
define (only errors of your own program can have those), and the resolved policy: each field that the file
changes with the value it replaced and its place, and the fields that have their defaults. A tool is compared
with what it would have without a layer of its own. "run" is what is no layer: budgets, prices, spending,
context and the limits of the run; its rows have no place. A misspelt class is an error.

JSON: of a policy {"ok", "own_classes", "resolved": [{"of", "fields": [{"field", "value", "layer", "source",
"instead"}]}]} with "instead" only where a value was replaced; of a reply {"ok": true, "calls": [{"tool",
"arguments", "repairs": [{"kind", "offset"}]}]}, or {"ok": false, "class", "calls", "issues": [{"call",
"pointer", "rule", "expected", "got"}], "feedback"}; of a corpus {"question", "reply", ...} with "reply"
counted from 0. "tool" is the registered name, or the name as written for an unknown tool. "arguments" is
null if they cannot be read. For several replies each line is {"file", "result"}, with "file" as FILE:LINE
for a reply in a journal. "call" is the index of a call; it is absent if the whole reply is at fault. A
reply without a call has the class no_output. "got" is empty if nothing was there. "feedback" is the text
that the model would get.`,
	task: newTask[check],
}

type check struct {
	texts
	failOn
	policyFlag
	Tool   string `flag:"tool TOOL.json" help:"check replies against the tools of TOOL.json"`
	Corpus string `flag:"corpus FILE" help:"check all replies of FILE"`
	Cut    share  `flag:"cut SHARE" help:"keep only this SHARE of each text, above 0 and at most 1"`
}

func (c *check) run(e *env) error {
	switch {
	case c.Tool == "" && c.Corpus == "" && c.Policy == "":
		return misused("-tool, -corpus or -policy is missing: " +
			"give -tool TOOL.json and a reply on standard input, -corpus FILE, or a -policy to check")
	case c.Tool == "" && len(c.places) > 0 && c.places[0].path != standardInput:
		return misused("%s is a reply: give -tool TOOL.json to check it against, or leave it out",
			c.places[0])
	case c.Tool != "" && c.Corpus != "":
		return misused("-tool and -corpus exclude each other: a corpus brings its own tools")
	case c.FailOn != "" && c.Corpus == "":
		return misused("-fail-on is for -corpus: give -corpus FILE, or leave -fail-on out")
	case c.bounded() && c.Tool == "":
		return misused("-since and -until are for replies in journals: give -tool TOOL.json, or leave them out")
	case c.Cut != 0 && c.Corpus == "":
		return misused("-cut is for -corpus: give -corpus FILE, or leave -cut out")
	}
	from, err := readPolicy("-policy", c.Policy)
	if err != nil {
		return err
	}
	switch {
	case c.Corpus != "":
		return c.runCorpus(e, &from.set)
	case c.Tool != "":
		return c.runReply(e, &from.set)
	}
	return c.runPolicy(e, &from.set)
}

// runPolicy names the error classes of a valid policy that are the user's own, and shows what it resolves to.
func (c *check) runPolicy(e *env, p *policy.Set) error {
	own := p.OwnClasses()
	if c.JSON {
		return e.json(map[string]any{"ok": true, "own_classes": append([]fault.Class{}, own...),
			"resolved": resolve(*p)})
	}
	e.println(e.green("ok"))
	for _, class := range own {
		e.printf("  %s is a class of your own: only an error of your program has it\n", class)
	}
	for _, r := range resolve(*p) {
		r.write(e)
	}
	return nil
}

func (c *check) runReply(e *env, p *policy.Set) error {
	tools, err := readTools("-tool", c.Tool)
	if err != nil {
		return err
	}
	one := func(name string, reply message.Reply) error {
		v, err := corpus.CheckReply(reply, tools, p)
		if err != nil {
			return err
		}
		if err = c.answer(e, name, v, func() { writeVerdict(e, v) }); err == nil && !v.OK {
			err = errNotOK
		}
		return err
	}
	return c.each(e, reader{
		inJournals: "reply with a call",
		text:       func(name string, text []byte) error { return one(name, message.Reply{Text: string(text)}) },
		event: func(name string, ev *machine.Event) (bool, error) {
			if ev.Reply == nil || len(ev.Reply.Calls) == 0 && ev.Reply.CallsOver == 0 {
				return false, nil
			}
			return true, one(name, ev.Reply.Message)
		},
	})
}

func (c *check) runCorpus(e *env, p *policy.Set) error {
	var sum corpus.Tally
	for q, err := range questions(c.Corpus) {
		if err != nil {
			return err
		}
		if c.Cut != 0 {
			for n, r := range q.Replies {
				q.Replies[n].Text = cutText(r.Text, float64(c.Cut))
			}
		}
		verdicts, err := corpus.Check(q, p)
		if err != nil {
			return err
		}
		for n, v := range verdicts {
			c.count(v.OK, v.Unreadable())
			sum.Add(v)
			if err := c.writeLine(e, corpusVerdict{q.ID, n, v}); err != nil {
				return err
			}
		}
	}
	if !c.JSON {
		e.printf("\n%s\n", sum)
	}
	return c.failed()
}

// cutText returns the first part of a text, a share of its characters, rounded down.
func cutText(text string, share float64) string {
	const rounding = 1e-9 // 0.29 of 100 is 29
	runes := []rune(text)
	return string(runes[:int(share*float64(len(runes))+rounding)])
}

// corpusVerdict is the verdict on one reply of a corpus.
type corpusVerdict struct {
	Question string `json:"question"`
	Reply    int    `json:"reply"`
	corpus.Verdict
}

// writeLine writes a verdict as one line.
func (c *check) writeLine(e *env, v corpusVerdict) error {
	if c.JSON {
		return e.json(v)
	}
	var what []string
	mark := e.green("ok    ")
	for _, call := range v.Calls {
		what = append(what, call.Tool)
	}
	text := strings.Join(what, ", ")
	if !v.OK {
		mark, text = e.red("not ok"), string(v.Class)
		for _, i := range v.Issues {
			text += "; " + i.String()
		}
	}
	e.printf("%s  %-28s  %s\n", mark, plain(fmt.Sprintf("%s/%d", v.Question, v.Reply)), plain(text))
	return nil
}

// writeVerdict shows a verdict to people.
func writeVerdict(e *env, v corpus.Verdict) {
	if v.OK {
		e.println(e.green("ok"))
	} else {
		e.println(e.red("not ok: " + plain(string(v.Class))))
	}
	for n, c := range v.Calls {
		arguments := cmp.Or(string(c.Arguments), "(arguments that cannot be read)")
		e.printf("\n  %s %s\n", e.bold(plain(cmp.Or(c.Tool, "(no name)"))), plain(arguments))
		for _, i := range v.Issues {
			if i.Call != nil && *i.Call == n {
				e.printf("    %s\n", plain(i.String()))
			}
		}
		var repaired []string
		for _, kind := range extract.Kinds(c.Repairs) {
			repaired = append(repaired, strings.ReplaceAll(string(kind), "_", " "))
		}
		if len(repaired) > 0 {
			e.println(e.faint("    repaired: " + strings.Join(repaired, ", ")))
		}
	}
	if v.Feedback != "" {
		e.printf("\nthe model would be told:\n\n%s\n", plainLines(indent(v.Feedback)))
	}
}
