package loop

import (
	"maps"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// Read reads and checks a model's reply against the tools and the output schema of cfg, under what the policy says of
// repairs (see [ReadSettings]). It changes nothing: an engine may run it wherever it likes, and feed what it returns as an event.
//
// Nothing of a reply that was cut off or refused is looked at. Bytes that are no UTF-8 become U+FFFD.
func Read(r message.Reply, cfg Config, settings tool.Settings) *machine.Reply {
	return read(r, &cfg, settings, nil)
}

// read is Read. It keeps what is made of good calls, where somebody wants it.
func read(r message.Reply, cfg *Config, settings tool.Settings, keep *[]*tool.Ready) *machine.Reply {
	r = printableReply(r)
	native := len(r.Calls) > 0
	if machine.Unusable(r) {
		return &machine.Reply{Message: r, Native: native}
	}
	if cfg.Tools != nil || native {
		if calls := readCalls(r, cfg, settings, keep); len(calls) > 0 {
			return readOfCalls(r, native, calls)
		}
	}
	if cfg.CallsOnly {
		return &machine.Reply{Message: r, Native: native}
	}
	// An answer and its reply are kept together: one allocation.
	read := &struct {
		machine.Reply
		answer machine.Answer
	}{Reply: machine.Reply{Message: r, Native: native}}
	read.Answer = &read.answer
	if cfg.Output != nil {
		a := tool.ReadAnswer(r.Text, cfg.Output, settings)
		read.answer = machine.Answer{Value: a.Raw, Issues: a.Issues, Repairs: a.Repairs}
	}
	return &read.Reply
}

func readCalls(r message.Reply, cfg *Config, settings tool.Settings, keep *[]*tool.Ready) []tool.Checked {
	if keep == nil {
		return cfg.Tools.Read(r, settings).Calls
	}
	reading, ready := cfg.Tools.Prepare(r, settings)
	*keep = ready
	return reading.Calls
}

// readOfCalls is a reply with calls. Most have one, which is kept together with its reply.
func readOfCalls(r message.Reply, native bool, calls []tool.Checked) *machine.Reply {
	if len(calls) == 1 {
		read := &struct {
			machine.Reply
			one [1]machine.Call
		}{machine.Reply{Message: r, Native: native}, [1]machine.Call{call(&calls[0])}}
		read.Calls = read.one[:]
		return &read.Reply
	}
	read := &machine.Reply{Message: r, Native: native, Calls: make([]machine.Call, len(calls))}
	for n := range calls {
		read.Calls[n] = call(&calls[n])
	}
	return read
}

func call(c *tool.Checked) machine.Call {
	name := c.Tool
	if c.Class == fault.UnknownTool {
		name = c.Name
	}
	return machine.Call{ID: c.ID, Tool: name, Arguments: c.Arguments, Raw: c.Raw, Class: c.Class, Issues: c.Issues, Repairs: c.Repairs}
}

// ReadSettings is what a run's policy says of reading replies, for [Read].
func ReadSettings(set *policy.Set) tool.Settings {
	p := policy.Effective(set, machine.AnswerAction)
	settings := tool.Settings{Off: p.FormsOff, Text: p.TextRepairs, Native: p.NativeRepairs}
	if len(set.Tools) == 0 {
		return settings
	}
	for _, name := range slices.Sorted(maps.Keys(set.Tools)) {
		own := policy.Effective(set, name)
		if settings.Tools == nil {
			settings.Tools = map[string]tool.Leniency{}
		}
		settings.Tools[name] = tool.Leniency{Text: own.TextRepairs, Native: own.NativeRepairs}
	}
	return settings
}
