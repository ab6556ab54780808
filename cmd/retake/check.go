package main

import (
	"flag"
	"fmt"
	"math/big"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

var checkCommand = command{
	name:    "check",
	summary: "whether a model's reply can be used, and what the model would be told",
	usage: []string{
		"check -tool TOOL.json [-policy FILE] [-json] < REPLY",
		"check -corpus FILE [-cut SHARE] [-policy FILE] [-json]",
	},
	about: `
Reads the tool calls in a reply and checks their arguments, as a run does that wants calls (loop.Config.CallsOnly). A reply
is ok when it holds at least one call and all of its calls can be used. Nothing is run.

With -tool, standard input is one reply as text, and the exit status is 1 where it is not ok. TOOL.json is one object
{"name", "description", "parameters"} with a JSON Schema as its parameters, or a list of such objects. -policy says which
forms of calls are read and which repairs accepted (forms_off, text_repairs, native_repairs).

With -corpus, FILE has one question a line: {"id", "tools": [...], "replies": [{"text"} or {"tool_calls": [{"name",
"arguments"}]}, ...]}, with arguments as the model's own text. Every reply is answered on a line of its own, in file order.
-cut keeps only that share of each text's characters.

JSON: {"ok": true, "calls": [{"tool", "arguments", "repairs": [{"kind", "offset"}]}]}, or {"ok": false, "class", "calls",
"issues": [{"call", "pointer", "rule", "expected", "got"}], "feedback"}; of a corpus {"question", "reply", ...} with
"reply" counted from 0. "tool" is the registered name, of an unknown tool the name as written. "arguments" is null where
they cannot be read. "call" is the index of a call, and absent where the whole reply is at fault: without any call the
class is no_output. "got" is empty where nothing was there. "feedback" is all that the model would be told.`,
	task: func() task { return &check{} },
}

type check struct {
	tool, corpus, policy string
	cut                  *big.Rat
	json                 bool
}

func (c *check) declare(fs *flag.FlagSet) {
	fs.StringVar(&c.tool, "tool", "", "check the reply on standard input against the tools of `TOOL.json`")
	fs.StringVar(&c.corpus, "corpus", "", "check all replies of `FILE`")
	fs.StringVar(&c.policy, "policy", "", "the policy: a YAML or JSON `FILE`, or preset:NAME")
	fs.Func("cut", "keep only this `SHARE` of each text, above 0 and at most 1", func(s string) error {
		share, ok := new(big.Rat).SetString(s)
		if !ok || len(s) > 32 || share.Sign() <= 0 || share.Cmp(big.NewRat(1, 1)) > 0 {
			return fmt.Errorf("give a share above 0 and at most 1, such as 0.8")
		}
		c.cut = share
		return nil
	})
	fs.BoolVar(&c.json, "json", false, "write JSON")
}

func (c *check) run(e *env) error {
	switch {
	case c.tool == "" && c.corpus == "":
		return misused("-tool or -corpus is missing: give -tool TOOL.json and a reply on standard input, or -corpus FILE")
	case c.tool != "" && c.corpus != "":
		return misused("-tool and -corpus exclude each other: a corpus brings its own tools")
	case c.cut != nil && c.corpus == "":
		return misused("-cut is for -corpus: give -corpus FILE, or leave -cut out")
	}
	from, err := readPolicy(c.policy)
	if err != nil {
		return err
	}
	cfg := loop.Config{Policy: &from.set, CallsOnly: true}
	if c.corpus != "" {
		return c.runCorpus(e, cfg)
	}
	return c.runReply(e, cfg)
}

func (c *check) runReply(e *env, cfg loop.Config) (err error) {
	if cfg.Tools, err = readTools("tool", c.tool); err != nil {
		return err
	}
	if e.typed {
		e.note("reading a reply from the terminal; end it with Ctrl-D")
	}
	text, err := readAll("standard input", e.in)
	if err != nil {
		return err
	}
	v, err := judge(cfg, message.Reply{Text: string(text)})
	if err != nil {
		return err
	}
	if c.json {
		err = e.json(v)
	} else {
		v.write(e)
	}
	if err == nil && !v.OK {
		return errNotOK
	}
	return err
}

// write shows a verdict to people.
func (v verdict) write(e *env) {
	if v.OK {
		fmt.Fprintln(e.out, e.paint.green("ok"))
	} else {
		fmt.Fprintln(e.out, e.paint.red("not ok: "+plain(string(v.Class))))
	}
	for n, c := range v.Calls {
		fmt.Fprintf(e.out, "\n  %s %s\n", e.paint.bold(plain(callName(c.Tool))), argumentsText(c))
		for _, i := range v.Issues {
			if i.Call != nil && *i.Call == n {
				fmt.Fprintf(e.out, "    %s\n", plain(i.text))
			}
		}
		if len(c.Repairs) > 0 {
			fmt.Fprintln(e.out, e.paint.faint("    read with: "+repairsText(c.Repairs)))
		}
	}
	if v.Feedback != "" {
		fmt.Fprintf(e.out, "\nthe model would be told:\n\n%s\n", plainLines(indent(v.Feedback)))
	}
}

func callName(tool string) string {
	if tool == "" {
		return "(no name)"
	}
	return tool
}

func argumentsText(c readCall) string {
	if c.Arguments == nil {
		return "(arguments that cannot be read)"
	}
	return plain(string(c.Arguments))
}

// repairsText is each kind of repair once, with where it begins and how often it occurs.
func repairsText(repairs []extract.Repair) string {
	var kinds []extract.RepairKind
	count := map[extract.RepairKind]int{}
	first := map[extract.RepairKind]int{}
	for _, r := range repairs {
		if count[r.Kind]++; count[r.Kind] == 1 {
			kinds, first[r.Kind] = append(kinds, r.Kind), r.Offset
		}
	}
	words := make([]string, len(kinds))
	for n, k := range kinds {
		words[n] = fmt.Sprintf("%s (byte %d", strings.ReplaceAll(string(k), "_", " "), first[k])
		if more := count[k] - 1; more > 0 {
			words[n] += fmt.Sprintf(" and %d more", more)
		}
		words[n] += ")"
	}
	return strings.Join(words, ", ")
}
