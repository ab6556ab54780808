package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
)

// runLine is the line of JSON that follows the entries of a run.
type runLine struct {
	Run     int           `json:"run"`
	Session string        `json:"session"`
	Seed    string        `json:"seed,omitempty"`
	Begun   time.Time     `json:"begun,omitzero"`
	OK      bool          `json:"ok"`
	Reason  policy.Reason `json:"reason,omitempty"`
	// InDoubt are the calls whose effect is unknown.
	InDoubt []machine.CallRef `json:"in_doubt,omitempty"`
	// ToolFailures are the calls that failed, in the order of their ends.
	ToolFailures []machine.ToolFailure `json:"tool_failures,omitempty"`
	// Unfinished says what is under way if the run has no end.
	Unfinished string `json:"unfinished,omitempty"`
	totals
	// Omitted counts the entries that were left out.
	Omitted int `json:"omitted,omitempty"`
}

// JSON writes each entry of a run as a line of JSON, and then one line for the run, which has the member
// "session". Bounds and errors are those of [Text].
func JSON(w io.Writer, in io.Reader) error {
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	s := timelines(in)
	for r := range s.all() {
		var err error
		for e := range r.kept.all() {
			err = errors.Join(err, enc.Encode(e))
		}
		if err = errors.Join(err, enc.Encode(r.sum())); err != nil {
			return err
		}
	}
	return errors.Join(s.fault(), out.Flush())
}

// sum returns the line of a run.
func (r *run) sum() runLine {
	l := runLine{
		Run: r.number, Session: r.header.Session, Seed: r.header.Seed(), Begun: r.begun,
		Unfinished: after(unfinished, r.underWay()), totals: r.totals, Omitted: r.kept.omitted,
	}
	if o := r.outcome; o != nil {
		l.OK, l.Reason, l.InDoubt, l.ToolFailures = o.OK, o.Reason, o.InDoubt, o.ToolFailures
	}
	return l
}
