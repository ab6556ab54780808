package journal

import (
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// What most records are, each as one piece of memory: its parts live and die together. What a session goes on with (texts, calls that a
// model proposed, issues) is none of it.
type (
	replied struct {
		Event
		reply machine.Reply
		calls [1]machine.Call
	}
	ended struct {
		Event
		end     machine.ToolEnd
		reduced machine.Reduced
	}
	asked struct {
		Decision
		effects [1]machine.Effect
		runs    [1]machine.ToolRun
		said    [1]message.Message
	}
	ruled struct {
		Decision
		effects [2]machine.Effect
		verdict machine.Decision
		call    machine.ModelCall
		at      [1]machine.Position
		said    [1]message.Message
	}
)

// spare are parts of such a piece that are not used yet.
type spare struct {
	reply   *machine.Reply
	calls   []machine.Call
	end     *machine.ToolEnd
	reduced *machine.Reduced
	effects []machine.Effect
	runs    []machine.ToolRun
	verdict *machine.Decision
	call    *machine.ModelCall
	at      []machine.Position
	said    []message.Message
}

// event is where an event is read to, by what stands next in it.
func (s *scanner) event() *Event {
	switch {
	case s.ahead(keyReply):
		r := &replied{}
		s.spare = spare{reply: &r.reply, calls: r.calls[:0]}
		return &r.Event
	case s.ahead(keyTool):
		e := &ended{}
		s.spare = spare{end: &e.end, reduced: &e.reduced}
		return &e.Event
	}
	return &Event{}
}

// decision is where a decision is read to, by its first effect.
func (s *scanner) decision() *Decision {
	if s.ahead(`"effects":[{"decision":`) {
		r := &ruled{}
		s.spare = spare{effects: r.effects[:0], verdict: &r.verdict, call: &r.call, at: r.at[:0], said: r.said[:0]}
		return &r.Decision
	}
	a := &asked{}
	s.spare = spare{effects: a.effects[:0], runs: a.runs[:0], said: a.said[:0]}
	return &a.Decision
}

// one takes a spare part, or makes one where none is left; some does for the room of a list.
func one[T any](spare **T) *T {
	part := *spare
	if *spare = nil; part == nil {
		return new(T)
	}
	return part
}

func some[T any](spare *[]T) []T {
	room := *spare
	*spare = nil
	return room
}
