package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// detail is what a page shows of an entry beyond its line. The fields that are set follow from the entry's
// kind.
type detail struct {
	effect machine.Effect
	event  machine.Event
	// said is what was added to the conversation since the model was called before, first the number of its
	// first message.
	said  []message.Message
	first int
	// run is the call whose end this is.
	run machine.ToolRun
	// landed is when the result came, where that was before its turn; else 0.
	landed time.Duration
	// policy is the explanation of the policy that decided.
	policy policy.Explanation
}

// size is about how many bytes a detail holds.
func (d *detail) size() int64 {
	if d == nil {
		return 0
	}
	n := 512
	d.texts(func(s *string) { n += len(*s) })
	return int64(n)
}

// texts calls f with each text of a detail that may be long.
func (d *detail) texts(f func(*string)) {
	for i := range d.said {
		messageTexts(&d.said[i], f)
	}
	if m := d.effect.Model; m != nil {
		f(&m.System)
	}
	if o := d.effect.Outcome; o != nil {
		f(&o.Text)
		rawText((*[]byte)(&o.Value), f)
		runTexts(o.Calls, f)
	}
	runTexts(d.effect.Tools, f)
	rawText((*[]byte)(&d.run.Arguments), f)
	if r := d.event.Reply; r != nil {
		replyTexts(r, f)
	}
	if t := d.event.Tool; t != nil {
		f(&t.Text)
		rawText((*[]byte)(&t.Result), f)
		rawText((*[]byte)(&t.Progress), f)
	}
	if x := d.event.Failure; x != nil {
		f(&x.Message)
	}
	if p := d.event.Plan; p != nil {
		f(&p.Prompt)
		f(&p.Note)
		f(&p.Warning)
	}
}

func messageTexts(m *message.Message, f func(*string)) {
	f(&m.Text)
	for i := range m.Calls {
		f(&m.Calls[i].Arguments)
	}
}

func replyTexts(r *machine.Reply, f func(*string)) {
	f(&r.Message.Text)
	f(&r.Message.Thinking)
	f(&r.Message.Refusal)
	for i := range r.Message.Calls {
		f(&r.Message.Calls[i].Arguments)
	}
	for i := range r.Calls {
		f(&r.Calls[i].Raw)
		rawText((*[]byte)(&r.Calls[i].Arguments), f)
	}
	if r.Answer != nil {
		rawText((*[]byte)(&r.Answer.Value), f)
	}
}

func runTexts(runs []machine.ToolRun, f func(*string)) {
	for i := range runs {
		rawText((*[]byte)(&runs[i].Arguments), f)
	}
}

func rawText(raw *[]byte, f func(*string)) {
	if len(*raw) == 0 {
		return
	}
	s := string(*raw)
	if f(&s); len(s) != len(*raw) {
		*raw = []byte(s)
	}
}

// cut bounds the texts of a detail and drops what a page does not show. It may write to them: they are those
// of a record that was read for it alone.
func (d *detail) cut() *detail {
	for i := range d.said {
		d.said[i].Opaque = ""
	}
	if r := d.event.Reply; r != nil {
		r.Message.Opaque = ""
		if len(r.Calls) > 0 {
			r.Message.Calls = nil
		}
	}
	d.texts(func(s *string) {
		if len(*s) > MaxText {
			shown := strings.ToValidUTF8((*s)[:MaxText], "")
			*s = fmt.Sprintf("%s\n[… %d bytes left out]", shown, len(*s)-MaxText)
		}
	})
	return d
}
