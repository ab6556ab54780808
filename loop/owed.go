package loop

import "github.com/retake-go/retake/message"

// owed is what calls and tries consumed that is in no event yet: their outcomes do not enter. That of a
// cancellation or of a message has it.
type owed struct {
	used message.Usage
	// unknown reports that a model call was left, and nobody knows what it consumed.
	unknown bool
}

// add notes what was consumed by a call or try that has ended.
func (o *owed) add(used message.Usage) { o.used = o.used.Add(used) }

// leave notes that a model call was left, and what it used; the zero value means that nobody knows.
func (o *owed) leave(used message.Usage) {
	o.add(used)
	o.unknown = used == message.Usage{}
}

// take returns all of it, for the fields Usage and Left of an event.
func (o *owed) take() (used message.Usage, left bool) {
	used, left = o.used, o.unknown
	*o = owed{}
	return used, left
}
