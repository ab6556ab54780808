package journal

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// encoder writes the canonical JSON of what every step has, as canon.Marshal does, without looking at types: members in order
// of their names. What is rare it leaves to canon. Raw JSON must be canonical already. After an error its bytes are worth
// nothing.
type encoder struct {
	out []byte
	err error
	// first is set before the first member of an object.
	first bool
}

// decisionRecord is the record of a decision.
func decisionRecord(to []byte, d *Decision) ([]byte, error) {
	e := encoder{out: append(to, `{"decision":`...)}
	e.open()
	if len(d.Effects) > 0 {
		e.name("effects")
		list(&e, d.Effects, (*encoder).effect)
	}
	e.optional("prompt", d.Prompt)
	if len(d.Said) > 0 {
		e.name("said")
		list(&e, d.Said, (*encoder).message)
	}
	e.close()
	return append(e.out, '}'), e.err
}

func (e *encoder) open() { e.out, e.first = append(e.out, '{'), true }

func (e *encoder) close() { e.out, e.first = append(e.out, '}'), false }

// name begins a member.
func (e *encoder) name(name string) {
	if !e.first {
		e.out = append(e.out, ',')
	}
	e.first = false
	e.out = append(append(append(e.out, '"'), name...), '"', ':')
}

func (e *encoder) text(s string) {
	var err error
	if e.out, err = jsontext.AppendQuote(e.out, s); err != nil && e.err == nil {
		e.err = err
	}
}

func (e *encoder) int(name string, n int64) {
	e.name(name)
	e.out = strconv.AppendInt(e.out, n, 10)
}

func (e *encoder) bool(name string, b bool) {
	e.name(name)
	e.out = strconv.AppendBool(e.out, b)
}

func (e *encoder) string(name, s string) {
	e.name(name)
	e.text(s)
}

// optional is a string that is left out where it is empty.
func (e *encoder) optional(name, s string) {
	if s != "" {
		e.string(name, s)
	}
}

// rare leaves a value to canon.
func (e *encoder) rare(name string, v any) {
	raw, err := canon.Marshal(v)
	if err != nil && e.err == nil {
		e.err = err
	}
	e.name(name)
	e.out = append(e.out, raw...)
}

func list[T any](e *encoder, all []T, write func(*encoder, *T)) {
	if all == nil {
		e.out = append(e.out, "null"...)
		return
	}
	e.out = append(e.out, '[')
	for n := range all {
		if n > 0 {
			e.out = append(e.out, ',')
		}
		write(e, &all[n])
	}
	e.out = append(e.out, ']')
}

func (e *encoder) message(m *message.Message) {
	e.open()
	e.optional("call_id", m.CallID)
	if len(m.Calls) > 0 {
		e.name("calls")
		list(e, m.Calls, (*encoder).call)
	}
	if m.IsError {
		e.bool("is_error", true)
	}
	e.optional("name", m.Name)
	e.optional("opaque", m.Opaque)
	e.string("role", string(m.Role))
	e.optional("text", m.Text)
	e.close()
}

func (e *encoder) call(c *message.Call) {
	e.open()
	e.string("arguments", c.Arguments)
	e.optional("id", c.ID)
	e.string("name", c.Name)
	e.close()
}

func (e *encoder) effect(x *machine.Effect) {
	e.open()
	if x.Consultation != nil {
		e.rare("consultation", x.Consultation)
	}
	if x.Decision != nil {
		e.name("decision")
		e.decision(x.Decision)
	}
	if x.Exhaustion != nil {
		e.rare("exhaustion", x.Exhaustion)
	}
	e.string("kind", string(x.Kind))
	if x.Model != nil {
		e.name("model")
		e.model(x.Model)
	}
	if x.Outcome != nil {
		e.rare("outcome", x.Outcome)
	}
	if len(x.Tools) > 0 {
		e.name("tools")
		list(e, x.Tools, (*encoder).run)
	}
	if x.Try != nil {
		e.rare("try", x.Try)
	}
	if x.Wait != nil {
		e.name("wait")
		e.wait(x.Wait)
	}
	e.close()
}

func (e *encoder) decision(d *machine.Decision) {
	e.open()
	e.string("action", d.Action)
	e.int("attempt", int64(d.Attempt))
	e.optional("class", string(d.Class))
	e.int("delay_ns", int64(d.Delay))
	if d.Detail != (policy.Detail{}) {
		e.rare("detail", d.Detail)
	}
	if d.Feedback != nil {
		e.rare("feedback", d.Feedback)
	}
	e.int("max_attempts", int64(d.MaxAttempts))
	e.string("plane", string(d.Plane))
	e.string("reason", string(d.Reason))
	if d.ReducerError != nil {
		e.rare("reducer_error", d.ReducerError)
	}
	e.bool("retry", d.Retry)
	e.close()
}

func (e *encoder) model(m *machine.ModelCall) {
	e.open()
	e.name("at")
	list(e, m.At, (*encoder).position)
	e.int("messages", int64(m.Messages))
	e.optional("model", m.Model)
	e.optional("system", m.System)
	e.int("transport", int64(m.Transport))
	e.int("turn", int64(m.Turn))
	e.close()
}

func (e *encoder) position(p *machine.Position) {
	e.open()
	e.string("action", p.Action)
	e.int("attempt", int64(p.Attempt))
	e.int("max_attempts", int64(p.MaxAttempts))
	e.close()
}

func (e *encoder) run(r *machine.ToolRun) {
	e.open()
	e.name("arguments")
	if r.Arguments == nil {
		e.out = append(e.out, "null"...)
	}
	e.out = append(e.out, r.Arguments...)
	e.string("id", r.ID)
	e.int("index", int64(r.Index))
	e.string("key", r.Key)
	e.string("tool", r.Tool)
	e.int("transport", int64(r.Transport))
	e.close()
}

func (e *encoder) wait(w *machine.Wait) {
	e.open()
	e.int("delay_ns", int64(w.Delay))
	e.string("plane", string(w.Plane))
	e.string("reason", string(w.Reason))
	if y := w.Until.Year(); w.Until.Location() != time.UTC || y < 0 || y > 9999 {
		e.rare("until", w.Until)
	} else {
		e.name("until")
		e.out = append(w.Until.AppendFormat(append(e.out, '"'), time.RFC3339Nano), '"')
	}
	e.close()
}
