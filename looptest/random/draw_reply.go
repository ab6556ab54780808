package random

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/retake-go/retake/message"
)

// drawReply draws what a model returns: an error, calls (native or in its text), an answer, or neither.
func (c *Case) drawReply(d dice) replyCase {
	if d.one(5) {
		return replyCase{Fault: drawFault(d), Reply: message.Reply{Text: pick(d, "", "half of a")}}
	}
	if d.one(40) {
		return replyCase{Cancels: true}
	}
	r := replyCase{Reply: message.Reply{Finish: message.Stop, Model: "example-1"}, Hangs: c.Hangs && d.one(5)}
	r.Usage = message.Usage{InputTokens: int64(d.IntN(100)), OutputTokens: int64(d.IntN(50)), APICalls: 1}
	r.Thinking, r.Opaque = pick(d, "", "", "hm"), pick(d, "", "", "sealed "+replySecret)
	switch d.IntN(20) {
	case 0:
		r.Text = pick(d, "cut", `{"total": 1`)
		r.Finish = pick(d, message.Length, message.Error, message.ContentFilter, message.Aborted)
	case 1:
		r.Refusal = pick(d, "I cannot do that.", replySecret)
	case 2:
		r.Text = pick(d, "", " \n")
	case 3, 4, 5, 6:
		r.Text = c.drawAnswer(d)
	default:
		c.drawCalls(d, &r)
	}
	return r
}

func (c *Case) drawAnswer(d dice) string {
	if len(c.Output) == 0 {
		return pick(d, "The end.", "no", "2", replySecret, "{{.}}", marked)
	}
	return pick(d, `{"total":1}`, `{"total": 2, "card": "`+cardSecret+`"}`, "```json\n{\"total\": 3}\n```",
		`{"total": "four"}`, `{"total": 100, "card": 7}`, `{'total': 5,}`, `Here: {"total": 6} as you asked.`,
		`{"total": 7, "more": "`+wrongSecret+`"}`, `{}`, `no JSON`, `{"total": 8, "total": 9}`, `[1]`, `{"total": 1e1}`)
}

// drawCalls draws one to three calls of tools, some of which do not exist.
func (c *Case) drawCalls(d dice, r *replyCase) {
	n := d.between(1, 3)
	names, arguments := make([]string, n), make([]string, n)
	for i := range n {
		names[i], arguments[i] = c.drawName(d), c.drawArguments(d)
		if i > 0 && d.one(4) {
			names[i], arguments[i] = names[i-1], arguments[i-1]
		}
	}
	if d.one(3) {
		r.Text = textCalls(d, names, arguments)
		return
	}
	r.Finish, r.Text = message.ToolUse, pick(d, "", "", "I call "+replySecret)
	first := d.IntN(1000)
	for i := range n {
		id := fmt.Sprintf("c%d", first+i)
		r.Calls = append(r.Calls, message.Call{ID: id, Name: names[i], Arguments: arguments[i]})
	}
	if d.one(12) {
		r.Calls[n-1].ID = pick(d, "", r.Calls[0].ID)
	}
}

func (c *Case) drawName(d dice) string {
	if len(c.Tools) == 0 || d.one(6) {
		return pick(d, "no_such_tool", "lookup", "Pay", "pay "+nameSecret, "paid")
	}
	return pick(d, c.Tools...).Name
}

func (c *Case) drawArguments(d dice) string {
	do := d.IntN(5) // up to four plays
	note, _ := json.Marshal(pick(d, texts...))
	if d.one(2) {
		return fmt.Sprintf(`{"do":%d,"note":%s}`, min(do, 3), note)
	}
	return pick(d, fmt.Sprintf(`{"do": %d}`, do), `{"do":0}`, `{"do":0}`, `{"do":0.0}`, `{"do":"0"}`,
		`{"do":"one"}`, `{}`, `{"note":"`+noteSecret+`"}`, `{"do":0,"more":"`+moreSecret+`"}`, `{'do': 0,}`,
		`{"do":0,"do":1}`, `[0]`, `null`, ``, `do it`, `{"do":0`, `{"do":1e0,"note":7}`)
}

// textCalls writes calls as models do that have no native ones.
func textCalls(d dice, names, arguments []string) string {
	var b strings.Builder
	form := d.IntN(4)
	for i, name := range names {
		quoted, _ := json.Marshal(name)
		switch form {
		case 0:
			fmt.Fprintf(&b, "<tool_call>\n{\"name\": %s, \"arguments\": %s}\n</tool_call>\n", quoted, arguments[i])
		case 1:
			fmt.Fprintf(&b, "```json\n{\"name\": %s, \"arguments\": %s}\n```\n", quoted, arguments[i])
		case 2:
			fmt.Fprintf(&b, "<function=%s>%s</function>", name, arguments[i])
		default:
			fmt.Fprintf(&b, "I call {\"name\": %s, \"parameters\": %s}. ", quoted, arguments[i])
		}
	}
	return b.String()
}
