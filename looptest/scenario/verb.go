package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/retake-go/retake/message"
)

// stage says where in a story a verb is allowed.
type stage int

const (
	anytime stage = iota
	before        // before the first start
	after         // once a run was started
)

// need says whether text stands below a verb.
type need int

const (
	none need = iota
	optional
	required
)

// verb is a row of the table of verbs.
type verb struct {
	do    func(*story, *line) error
	stage stage
	// name describes its bare argument; empty if it takes none.
	name string
	// takes are its arguments, which end with "=", and its flags.
	takes string
	body  need
}

// verbs is the table of verbs. It is filled in init, for the functions in it read it.
var verbs map[string]verb

func init() {
	verbs = map[string]verb{
		"policy": {do: (*story).setPolicy, stage: before, body: required},
		"tool": {do: (*story).addTool, stage: before, name: "the tool's name",
			takes: "keys read-only idempotent polling= identity=", body: required},
		"agent":  {do: (*story).addAgent, stage: before, name: "the agent's name", takes: "tools="},
		"output": {do: (*story).setOutput, stage: before, body: required},
		"system": {do: (*story).setSystem, stage: before, body: required},
		"words":  {do: (*story).setWords, stage: before, body: required},
		"slice":  {do: (*story).addSlice, stage: before, name: "the slice's name", takes: "state log"},
		"ladder": {do: (*story).setLadder, stage: before, takes: "ask=", body: optional},
		"reducer": {do: (*story).addReducer, stage: before, name: "the reducer's name",
			takes: "on= slice= do= take= when= text="},
		"start": {do: (*story).start, takes: "seed= deadline= session= single= consult= model= planner prompts " +
			"calls unbounded estimates", body: optional},

		"reply":   {do: (*story).reply, stage: after, takes: "finish= refusal= tokens= text", body: optional},
		"rounds":  {do: (*story).rounds, stage: after, name: "how many", takes: "every= together", body: required},
		"outcome": {do: (*story).script, name: "the tool's name", body: required},
		"fault": {do: (*story).fault, stage: after, name: "the class", takes: "retry-after= tool= final",
			body: optional},
		"try":      {do: (*story).try, stage: after, takes: "tokens= ok", body: optional},
		"abandon":  {do: (*story).abandon, stage: after},
		"prompted": {do: (*story).prompted, stage: after, body: required},
		"later":    {do: (*story).later, stage: after, name: "how long"},
		"plan": {do: (*story).plan, stage: after, name: "follow, abort, fallback, degrade or ask",
			takes: "model= delay= warning= policy=", body: optional},
		"answer": {do: (*story).answer, stage: after,
			name:  "approve, refuse, done, not_done, run_again, nobody_knows, go_on or end",
			takes: "call= question= by= policy= arguments=", body: optional},
		"say":      {do: (*story).spoken, stage: after, takes: "id= by= late stop reset", body: required},
		"adjust":   {do: (*story).adjust, stage: after, body: required},
		"dispatch": {do: (*story).dispatch, stage: after, name: "the event's name", body: required},
		"cancel":   {do: (*story).cancel, stage: after},
		"crash":    {do: (*story).crash, stage: after},

		"state":    {do: (*story).showState, stage: after},
		"attempts": {do: (*story).showAttempts, stage: after},
		"feedback": {do: (*story).showFeedback, stage: after},
		"slices":   {do: (*story).showSlices, stage: after},
		"prompt":   {do: (*story).showPrompt, stage: after, takes: "all"},
		"session":  {do: (*story).showSession, stage: after},
		"envelope": {do: (*story).showEnvelope, stage: after, name: "the wire form"},
	}
}

// perform runs one line, and then the tools that the run asks for.
func (sc *story) perform(d *datadriven.TestData) error {
	v, ok := verbs[d.Cmd]
	if !ok {
		all := strings.Join(slices.Sorted(maps.Keys(verbs)), ", ")
		return fmt.Errorf("there is no verb %q; there are %s", d.Cmd, all)
	}
	l, err := v.read(d)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Cmd, err)
	}
	switch {
	case v.stage == before && sc.runner != nil:
		return fmt.Errorf("%s: it stands before the first start", d.Cmd)
	case v.stage == after && sc.runner == nil:
		return fmt.Errorf("%s: there is no run yet: start one first", d.Cmd)
	}
	if err := v.do(sc, l); err != nil {
		return fmt.Errorf("%s: %w", d.Cmd, err)
	}
	if err := sc.runTools(); err != nil {
		return err
	}
	return sc.climb()
}

// line is a verb's arguments and body, checked against its row.
type line struct {
	name string
	args map[string]string
	body string
	// place is the place of the line: FILE:LINE.
	place string
}

func (v verb) read(d *datadriven.TestData) (*line, error) {
	l := &line{args: map[string]string{}, body: strings.TrimSpace(d.Input), place: d.Pos}
	takes := strings.Fields(v.takes)
	for _, a := range d.CmdArgs {
		word := a.Key
		if len(a.Vals) > 0 {
			word += "="
		}
		switch {
		case slices.Contains(takes, word):
			l.args[a.Key] = strings.Join(a.Vals, ", ")
		case len(a.Vals) == 0 && v.name != "" && l.name == "":
			l.name = a.Key
		default:
			if v.name != "" {
				takes = slices.Insert(takes, 0, v.name)
			}
			all := strings.ReplaceAll(strings.Join(takes, ", "), "=", "=…")
			return nil, fmt.Errorf("it takes no argument %q; it takes %s", a.Key, cmp.Or(all, "none"))
		}
	}
	switch {
	case v.name != "" && l.name == "":
		return nil, fmt.Errorf("say %s", v.name)
	case l.body == "" && v.body == required:
		return nil, fmt.Errorf("something is missing below it")
	case l.body != "" && v.body == none:
		return nil, fmt.Errorf("nothing stands below it")
	}
	return l, nil
}

func (l *line) has(key string) bool {
	_, ok := l.args[key]
	return ok
}

// duration returns an argument in Go's form, or 0 if it is absent.
func (l *line) duration(key string) (time.Duration, error) {
	if !l.has(key) {
		return 0, nil
	}
	return duration(key, l.args[key])
}

func duration(what, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%s: %q is no duration: write 500ms, 2s or 1m30s", what, text)
	}
	return d, nil
}

// split splits a text at each of the separators and leaves out empty parts.
func split(text, separators string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) })
}

// usage returns the argument tokens=(IN,OUT) as the usage of one call.
func (l *line) usage() (message.Usage, error) {
	if !l.has("tokens") {
		return message.Usage{}, nil
	}
	in, out, _ := strings.Cut(l.args["tokens"], ", ")
	i, err := strconv.ParseInt(in, 10, 64)
	o, err2 := strconv.ParseInt(out, 10, 64)
	if err != nil || err2 != nil {
		return message.Usage{}, fmt.Errorf("tokens: write (120,30): those read and those written")
	}
	return message.Usage{InputTokens: i, OutputTokens: o, APICalls: 1}, nil
}
