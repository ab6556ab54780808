package journal

import (
	"fmt"
	"slices"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// Past returns the folded journal as it is now, up to the end of the last run that has an event. It does not
// change with what is recorded later: see [Journal.Call] for the current calls. The error is [ErrRedacted] if
// the journal had redacted runs when it was opened and the settings have no transcripts, and [ErrUnwritable]
// if the journal could not be written or is closed.
func (j *Journal) Past() (*Fold, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return nil, j.broken
	}
	if j.clear == nil {
		return nil, fmt.Errorf("%w: a run can continue only if the settings have the store of what was left out "+
			"(redact: transcripts): give it, or use another session for new runs, or end it with Abandon", ErrRedacted)
	}
	now := *j.clear.begunLast()
	now.Notes = slices.Clone(now.Notes)
	return &now, nil
}

// Call returns what is known of a current call: whether its tool began, and its outcome if that came before
// its turn. In a process that resumes its own run, tools of before may still return.
func (j *Journal) Call(key string, transport int) (began bool, landed *Note) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.clear == nil {
		return false, nil
	}
	for at := range j.clear.Notes {
		switch n := &j.clear.Notes[at]; {
		case n.Key != key || n.Transport != transport:
		case n.Kind == ToolBegan:
			began = true
		default:
			landed = new(*n)
		}
	}
	return began, landed
}

// QuestionOf returns the ID of a question of the run, open or answered, for its ID as the journal has it: in
// a redacted journal it is another, because it has a digest of the arguments. It returns any other ID as it
// is.
func (j *Journal) QuestionOf(id string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.clear == nil {
		return id
	}
	return questionIn(&j.file.State, &j.clear.State, id)
}

// questionIn returns the ID that a question of one state has in another, which asks the same.
func questionIn(from, to *machine.State, id string) string {
	asks := to.Asks()
	for n, a := range from.Asks() {
		if a.ID == id && n < len(asks) {
			return asks[n].ID
		}
	}
	for n, g := range from.Given() {
		if g.Question == id && n < len(to.Given()) {
			return to.Given()[n].Question
		}
	}
	return id
}

// Took reports whether the last run that has an event has taken an item of the inbox.
func (j *Journal) Took(i Item) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range []*Fold{j.file, j.clear} {
		if f == nil {
			continue
		}
		st := &f.begunLast().State
		given := func(g machine.Given) bool { return g.Question == i.Key && g.Since().Equal(i.At) && g.By == i.By }
		if i.Kind == MessageItem && slices.Contains(st.Spoken, i.Key) ||
			i.Kind == AnswerItem && slices.ContainsFunc(st.Given(), given) {
			return true
		}
	}
	return false
}

// Contents returns what the journal has of its session up to the end of the last run. It is zero if that run
// has not ended. Single actions keep the conversation of the run before them. The error is [ErrRedacted] if
// messages were left out and cannot be restored; what counts across runs, such as spending and caps, is
// returned even so.
func (j *Journal) Contents() (held session.Contents, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := &j.file.begunLast().State
	switch {
	case j.broken != nil:
		return held, j.stops()
	case !atRest(last) || last.Session.ID() == "":
		return held, nil
	case j.clear != nil:
		return j.clear.begunLast().State.Contents(), nil
	}
	if held.State, err = counts(last.Session); err == nil && last.TranscriptLen() > 0 {
		err = fmt.Errorf("%w: the conversation of the journal cannot be continued: begin a new one, "+
			"or give the store of what was left out (redact: transcripts)", ErrRedacted)
	}
	return held, err
}

// counts returns the state of a session without its slices and logs, which have marks in a redacted journal.
func counts(of session.State) (session.State, error) {
	data, err := of.Snapshot()
	var held wireState
	if err == nil {
		err = canon.UnmarshalKnown(data, &held)
	}
	if err != nil {
		return session.State{}, err
	}
	held.Slices, held.Feedback = held.Slices[:0], held.Feedback[:0]
	held.Attempts, held.ReducerErrors = held.Attempts[:0], held.ReducerErrors[:0]
	if data, err = canon.Marshal(held); err != nil {
		return session.State{}, err
	}
	return session.ParseState(data)
}

// GoOn makes st, an idle state, continue the conversation of the journal's last run, if history begins with
// it. It returns the rest of the history, which the run has to record. So the journal grows linearly with the
// conversation. If the history or the redaction rules differ, GoOn leaves st unchanged and returns all of it.
func (j *Journal) GoOn(st *machine.State, history []message.Message) (rest []message.Message) {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := j.file
	if j.broken != nil || j.clear == nil || !atRest(&last.State) ||
		!sameRedaction(last.Header.Redaction, j.settings.Redact.header()) {
		return history
	}
	said := j.clear.State.Transcript()
	if len(said) > len(history) || !talk.Equal(said, history[:len(said)]) {
		return history
	}
	st.GoOn(&j.clear.State)
	return history[len(said):]
}

// atRest reports whether a run has ended, or has no event yet: a file may end after its header.
func atRest(st *machine.State) bool { return st.Phase == machine.Stopped || st.Phase == machine.Idle }

func sameRedaction(a, b *redacted) bool { return a == b || a != nil && b != nil && *a == *b }
