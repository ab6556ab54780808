package core

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// hand makes the runs of BenchmarkStep by hand, for these runs only: one tool, one native call in a reply,
// unlimited attempts, no waits. It keeps what retake keeps, in slices: the conversation with the same
// texts, an attempt for each decision, feedback with its line and persistent issues, and the key of a call;
// see requireSame. It does not check events, has no policy, and keeps only its last state.
type hand struct {
	session  string
	said     []message.Message
	attempts []handAttempt
	told     []handTold
	number   int
	attempt  int
	failed   int
	running  handRun
	answer   string
}

// handAttempt is the record of a decision.
type handAttempt struct {
	tool    string
	attempt int
	class   fault.Class
	issues  []fault.Issue
	retry   bool
	usage   message.Usage
	at      time.Time
}

// handTold is the fault of an attempt.
type handTold struct {
	tool, line         string
	attempt            int
	class              fault.Class
	next               time.Time
	issues, persistent []fault.Issue
}

// handRun is the current call.
type handRun struct {
	id, tool, key string
	arguments     []byte
}

// step handles one event.
func (h *hand) step(ev *machine.Event) {
	switch ev.Kind {
	case machine.Started:
		h.said = append(h.said, ev.Messages...)
	case machine.ToolEnded:
		h.said = append(h.said, message.Message{Role: message.Tool, Text: string(ev.Tool.Result), CallID: h.running.id, Name: h.running.tool})
		h.record(ev, handAttempt{tool: h.running.tool, attempt: h.attempt})
		h.attempt, h.running = 0, handRun{}
	default:
		h.replied(ev)
	}
}

func (h *hand) replied(ev *machine.Event) {
	m := &ev.Reply.Message
	h.said = append(h.said, message.Message{Role: message.Assistant, Text: m.Text, Calls: m.Calls})
	if len(ev.Reply.Calls) == 0 {
		h.record(ev, handAttempt{attempt: 1})
		h.answer = m.Text
		return
	}
	c := &ev.Reply.Calls[0]
	if h.attempt++; h.attempt == 1 {
		h.number++
	}
	if c.Class != "" {
		h.refuse(ev, c)
		return
	}
	h.running = handRun{id: c.ID, tool: c.Tool, key: h.key(c), arguments: slices.Clone(c.Arguments)}
}

// refuse counts a bad call and writes the feedback.
func (h *hand) refuse(ev *machine.Event, c *machine.Call) {
	f := handTold{tool: c.Tool, attempt: h.attempt, class: c.Class, next: ev.At, issues: c.Issues}
	if last := len(h.told) - 1; h.attempt > 1 && slices.Equal(h.told[last].issues, c.Issues) {
		f.issues, f.persistent, f.line = h.told[last].issues, h.told[last].issues, h.told[last].line
	} else {
		f.line = line(c.Issues)
	}
	h.failed++
	h.told = append(h.told, f)
	h.record(ev, handAttempt{tool: c.Tool, attempt: h.attempt, class: c.Class, issues: f.issues, retry: true})
	h.said = append(h.said, message.Message{Role: message.Tool, Text: text(&f), CallID: c.ID, Name: c.Tool, IsError: true})
}

func (h *hand) record(ev *machine.Event, a handAttempt) {
	a.at = ev.At
	if ev.Reply != nil {
		a.usage = ev.Reply.Message.Usage
	}
	h.attempts = append(h.attempts, a)
}

// line is the line of feedback.
func line(issues []fault.Issue) string {
	var room [256]byte
	b := room[:0]
	for n := range issues {
		if n > 0 {
			b = append(b, "; "...)
		}
		b = appendWrong(append(append(b, issues[n].Pointer[1:]...), ": "...), &issues[n])
	}
	return string(b)
}

func appendWrong(b []byte, i *fault.Issue) []byte {
	b = append(append(b, "expected "...), i.Expected...)
	return append(append(b, ", got "...), i.Got...)
}

// text is the feedback for the model.
func text(f *handTold) string {
	var room [512]byte
	b := append(room[:0], "Automatic check, not a message from the user: the arguments of your call of "...)
	b = append(append(b, f.tool...), " are not valid, and the tool was not run (attempt "...)
	b = append(strconv.AppendInt(b, int64(f.attempt), 10), ").\n"...)
	for n := range f.issues {
		b = append(append(append(b, "- "...), f.issues[n].Pointer[1:]...), ": "...)
		if f.persistent != nil {
			b = append(b, "still wrong: "...)
		}
		b = append(appendWrong(b, &f.issues[n]), '\n')
	}
	return string(append(append(append(b, "Call "...), f.tool...), " again with all arguments corrected."...))
}

// requestID is the id of the runs' request. Without one the key would depend on the conversation.
const requestID = "request"

// key is the idempotency key of a call.
func (h *hand) key(c *machine.Call) string {
	var room [512]byte
	b := room[:0]
	for n, part := range [...]string{h.session, requestID, strconv.Itoa(h.number), c.Tool, "0"} {
		if n == 1 {
			b = append(b, "id:"...)
		}
		b = append(append(strconv.AppendInt(b, int64(len(part)), 10), ':'), part...)
	}
	b = append(append(strconv.AppendInt(b, int64(len(c.Arguments)), 10), ':'), c.Arguments...)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// requireSame fails if the result by hand differs from that of the core for the same events.
func (r recorded) requireSame(t testing.TB) {
	h := hand{session: "order-42"}
	for n := range r.steps {
		h.step(&r.steps[n].ev)
		st := r.steps[n].after
		require.Equal(t, st.Transcript(), h.said)
		require.Len(t, h.attempts, st.Session.AttemptCount())
		require.Len(t, h.told, len(st.Session.Feedback()))
		if told := st.Session.Feedback(); len(told) > 0 {
			require.Equal(t, told[len(told)-1].Message, h.told[len(h.told)-1].line)
		}
		if st.Batch != nil {
			require.Equal(t, st.Batch.Calls[0].Key, h.running.key)
		}
	}
}
