package random

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// New returns the case of a seed. Its config is valid.
func New(seed uint64) Case {
	d := newDice(seed)
	for {
		c := draw(d, seed)
		c.drawFollows()
		c.drawProgress()
		c.drawPeople()
		c.drawAgents()
		c.drawDelegates()
		if w, err := NewWorld(c); err == nil && w.validate() == nil {
			return c
		}
	}
}

// errEndless is what is wrong with an action whose attempts a reducer may refuse for ever.
var errEndless = errors.New("a reducer may refuse all attempts, and there is no last one")

// validate reports what is wrong with the config.
func (w *World) validate() error {
	if a := w.Case.Action; a != nil {
		if a.Policy.MaxAttempts == policy.Unlimited && slices.ContainsFunc(w.Case.Reducers,
			func(r reducerCase) bool { return r.Refuses+r.Panics != "" }) {
			return errEndless
		}
		_, err := a.Machine()
		return err
	}
	m, err := w.Config.Machine(w.Options()...)
	var changes []*policy.Layer
	if w.Case.Adjust != nil {
		changes = append(changes, &w.Case.Adjust.Layer)
	}
	for _, a := range w.Case.Answers {
		changes = append(changes, a.Policy)
	}
	for _, p := range w.Case.Plans {
		changes = append(changes, p.Policy)
	}
	for _, layer := range changes {
		if err == nil && layer != nil {
			_, err = policy.Adjust(m.Policy, *layer)
		}
	}
	return errors.Join(err, w.Case.Redact.Validate())
}

func draw(d dice, seed uint64) Case {
	c := Case{Seed: seed, Parallel: d.between(1, 4)}
	c.Input.Prompt = pick(d, "Pay.", "Book two rooms.", "What is 2 + 2?", "Für Ærø\n{{.}}", "0123456789")
	c.drawSession(d)
	if d.one(6) {
		c.drawAction(d)
		return c
	}
	if c.Hangs = d.one(6); c.Hangs {
		c.Parallel = 1
	}
	c.Tools = many(d, 3, func() toolCase { return toolCase{} })
	for n := range c.Tools {
		c.Tools[n] = c.drawTool(d, toolNames[n])
	}
	if d.one(3) {
		c.Output = json.RawMessage(answerSchema)
	}
	c.drawConfig(d)
	if c.Hangs {
		limits := &c.Config.Policy.Transport
		limits.ModelTimeout = new(pick(d, policy.Unlimited, time.Second, 8*time.Second))
		limits.ToolTimeout = new(pick(d, policy.Unlimited, 500*time.Millisecond, 5*time.Second))
	}
	c.drawPlanner(d)
	c.Replies = many(d, 10, func() replyCase { return c.drawReply(d) })
	c.Prompts, c.Stream = d.one(8), d.one(3)
	if d.one(6) {
		c.Adjust = &adjustCase{Attempts: d.between(1, 4), Layer: drawLayer(d)}
	}
	c.Redact = c.drawRedaction(d)
	return c
}

// drawFollows draws further runs of the session, with dice of their own.
func (c *Case) drawFollows() {
	d := newDice(^c.Seed)
	if c.Action != nil || c.Cancels() || !d.one(5) {
		return
	}
	c.Input.RequestID = "request-1"
	for range d.between(1, 2) {
		c.Follows = append(c.Follows, pick(d, "And then?", "Pay.", "Now {{.}}"))
	}
}

const answerSchema = `{"type":"object","properties":{"total":{"type":"integer","maximum":99},` +
	`"card":{"type":"string","x-secret":true}},"required":["total"],"additionalProperties":false}`

// marked looks like what a redacted journal has in place of a value.
const marked = "[redacted 00112233445566778899aabbccddeeff, 3 bytes]"

// texts are what tools and models say.
var texts = []string{
	"", "one", "two words", "a\"b\\c\n", "<tool_call>{\"name\"", "~~~", "é\u2028", marked, noteSecret,
}

func (c *Case) drawConfig(d dice) {
	cfg := &c.Config
	cfg.Policy = c.drawPolicy(d)
	cfg.Seed = pick(d, "", "", "seed", "7")
	cfg.System = pick(d, "", "", "Be brief.", "{{with feedback}}Last time: {{.}}{{end}}", "For {{.Vars.name}}, {{.Vars.nights}}.")
	cfg.Vars = pick(d, nil, map[string]any{"name": "Ærø " + varSecret, "nights": 2.50, "more": []any{nil, true}})
	if strings.Contains(cfg.System, "Vars") {
		cfg.Vars = map[string]any{"name": varSecret, "nights": d.IntN(3)}
	}
	if d.one(10) {
		cfg.Feedback = "Wrong: {{.}}"
	}
	if d.one(10) {
		cfg.Limits = &feedback.Limits{MaxBytes: pick(d, 256, 4096), MaxIssues: d.between(1, 3)}
	}
	if d.one(8) {
		c.Input.Deadline = looptest.Epoch.Add(time.Duration(d.between(1, 40)) * time.Second)
	}
	if d.one(8) {
		c.Input.RequestID = "request-1"
	}
	if d.one(8) {
		cfg.Stop = []string{"END"}
	}
	if d.one(10) {
		c.Input.Attach = []message.Part{message.Bytes(message.ImagePart, "image/png", []byte("picture"))}
	}
	if d.one(8) {
		c.Input.History = []message.Message{
			{Role: message.User, Text: "Hello."}, {Role: message.Assistant, Text: "Hello, " + historySecret},
		}
	}
	if len(c.Tools) == 0 {
		return
	}
	cfg.CallsOnly = len(c.Output) == 0 && d.one(12)
	if d.one(10) {
		cfg.ToolChoice = pick(d, message.AnyTool, message.NoTool, message.ToolChoice(c.Tools[0].Name))
	}
	if cfg.CallsOnly && cfg.ToolChoice == message.NoTool { // which is refused
		cfg.ToolChoice = ""
	}
}

var toolNames = []string{"pay", "look_up", "send"}

func (c *Case) drawTool(d dice, name string) toolCase {
	t := toolCase{Name: name, Secret: d.one(3)}
	t.Declared = pick(d, "", tool.DeclaredReadOnly, tool.DeclaredIdempotent)
	if d.one(4) {
		t.Policy = drawLayer(d)
	}
	if d.one(4) {
		t.Transport = drawTransportLayer(d)
	}
	for range d.between(1, 4) {
		var play []outcome
		for range d.between(1, 3) {
			o := drawOutcome(d, returns, returns, returns, returns, returns, asksAgain, fails, triesLater, triesLater,
				breaks, breaks, breaksInside, panics, unknown)
			if c.Parallel == 1 && d.one(20) { // what else runs at once is not always over when the run ends
				o = outcome{Kind: cancels}
			}
			if c.Hangs && d.one(4) {
				o.Kind = hangs
			}
			play = append(play, o)
		}
		t.Plays = append(t.Plays, play)
	}
	return t
}

func drawOutcome(d dice, kinds ...outcomeKind) outcome {
	o := outcome{Kind: pick(d, kinds...), Text: pick(d, texts...)}
	switch o.Kind {
	case returns:
		o.Result = pickJSON(d, `{"ok":true}`, `"`+resultSecret+`"`, `null`, `[1.0,1e2,{"b":1,"a":"no"}]`,
			`{"number":"`+resultSecret+`"}`)
		o.Attaches = d.one(6)
	case triesLater:
		o.After = time.Duration(d.IntN(4)) * time.Second
	case breaks:
		o.Fault = drawFault(d)
	}
	o.Emits = many(d, 2, func() session.Event {
		name := pick(d, "paid", "noted")
		return session.Event{Name: name, Payload: pickJSON(d, `{"n":1}`, `"no"`, `"`+emittedSecret+`"`)}
	})
	o.Progress = many(d, 2, func() json.RawMessage { return pickJSON(d, `1`, `"half, `+emittedSecret+`"`) })
	return o
}

func pickJSON(d dice, all ...string) json.RawMessage { return json.RawMessage(pick(d, all...)) }

func drawFault(d dice) failure {
	f := failure{Class: pick(d, fault.RateLimit, fault.RateLimit, fault.Timeout, fault.Unavailable,
		fault.Overloaded, fault.Network)}
	if d.one(4) {
		f.Class = pick(d, "", fault.Auth, fault.Billing, fault.ContextLength, fault.InvalidRequest,
			fault.InvalidResponse, fault.Unknown)
	}
	f.Text = pick(d, "connection reset", "no", "a \"quote\" of "+faultSecret)
	if f.Class != "" && d.one(3) {
		f.RetryAfter = time.Duration(d.IntN(20000)) * time.Millisecond
	}
	if f.Class != "" {
		f.Status, f.Final = pick(d, 0, 0, 429, 500, 401), d.one(20)
	}
	return f
}

// drawSession draws slices and reducers. Reducers hear results, answers, notices and what tools emit.
func (c *Case) drawSession(d dice) {
	c.Slices = []sliceCase{{Name: "log", Kind: session.KindLog}, {Name: "state", Kind: session.KindState}}
	events := append(session.Notices(), session.EventToolResult, session.EventStructuredOutput, "paid", "noted", "noted")
	for n := range d.IntN(4) {
		r := reducerCase{Name: fmt.Sprint("r", n), On: pick(d, events...), Slice: pick(d, c.Slices...).Name}
		r.Do = pick(d, reducer.OpAppend, reducer.OpAppend, reducer.OpReplace, reducer.OpClear, reducer.OpNone)
		r.When = pick(d, "", "", "no", "2", "pay")
		switch d.IntN(6) {
		case 0:
			r.Refuses = pick(d, "over budget", "no: "+reducerSecret, "~~~")
		case 1:
			r.Panics = "boom"
		}
		c.Reducers = append(c.Reducers, r)
	}
}

func (c *Case) drawPlanner(d dice) {
	if !d.one(3) {
		return
	}
	c.Models = []string{"small", "large"}
	c.Plans = many(d, 3, func() planCase { return c.drawPlan(d) })
	if len(c.Plans) > 0 && d.one(2) {
		c.Config.Consult = []fault.Class{fault.RateLimit, fault.Overloaded}
	}
}

func (c *Case) drawPlan(d dice) planCase {
	p := planCase{Plan: machine.Plan{Note: "because"}}
	p.Do = pick(d, machine.Follow, machine.Abort, machine.Fallback, machine.Fallback, machine.Fallback,
		machine.Degrade)
	if d.one(10) {
		p.Err = pick(d, "no planner at home", plannerSecret)
		return p
	}
	p.Cancels = d.one(15)
	p.Warning = pick(d, "", "slow today")
	if p.Do != machine.Fallback {
		return p
	}
	p.Model, p.Prompt = pick(d, "", "small", "large"), pick(d, "", "Try without tools. "+planSecret)
	p.Delay, p.ResetBudgets = time.Duration(d.IntN(3))*time.Second, d.one(3)
	if d.one(4) {
		layer := drawLayer(d)
		p.Policy = &layer
	}
	return p
}

// drawAction makes the case the tries of one action.
func (c *Case) drawAction(d dice) {
	a := loop.FinalAnswer()
	if d.one(2) {
		a = loop.ToolCall("pay")
	}
	set := policy.Set{Global: drawLayer(d), Transport: drawTransportLayer(d)}
	a.Policy, a.Transport = set.Policy(policy.Target{Tool: a.Tool}), set.Policy(policy.Target{Plane: fault.Transport})
	a.Seed, a.ID = pick(d, "", "seed"), pick(d, "", "action-1")
	if d.one(6) {
		a.Deadline = looptest.Epoch.Add(time.Duration(d.between(1, 40)) * time.Second)
	}
	c.Action = a
	c.Tries = many(d, 8, func() outcome {
		return drawOutcome(d, returns, returns, asksAgain, asksAgain, asksAgain, asksAgain, asksAgain, asksAgain,
			breaks, breaks, breaks, breaks, cancels)
	})
	c.Redact = c.drawRedaction(d)
}

// drawRedaction draws rules that leave secrets out of what they name, and of all that they can name.
func (c *Case) drawRedaction(d dice) journal.Redaction {
	var r journal.Redaction
	if d.one(2) {
		r.Key = []byte("a key of many bytes")
	}
	if d.one(4) {
		r.Tools = map[string]journal.ToolRedaction{"*": {Arguments: []string{""}, Result: []string{""}}}
		r.Answer, r.Slices, r.Prompts, r.Replies = []string{""}, []string{"log", "state"}, true, true
		return r
	}
	if d.one(2) {
		name := pick(d, "*", "pay", "look_up")
		r.Tools = map[string]journal.ToolRedaction{name: {
			Arguments: pick(d, nil, []string{"/note"}, []string{""}, []string{"/do"}, []string{"/*"}),
			Result:    pick(d, nil, []string{""}, []string{"/number"}),
		}}
	}
	r.Answer = pick(d, nil, nil, []string{"/card"}, []string{""}, []string{"/total"})
	r.Slices = pick(d, nil, nil, []string{"log"}, []string{"state"})
	r.Prompts, r.Replies = d.one(4), d.one(4)
	r.MaxBytes = pick(d, 0, 0, 0, 1, 20, 200)
	return r
}
