package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/retake-go/retake/policy"
)

// runLine is a run as a line of JSON: it follows the lines of its entries.
type runLine struct {
	Run     int           `json:"run"`
	Session string        `json:"session"`
	Seed    string        `json:"seed,omitempty"`
	Begun   time.Time     `json:"begun,omitzero"`
	OK      bool          `json:"ok"`
	Reason  policy.Reason `json:"reason,omitempty"`
	// Unfinished says what is under way where the run has no end.
	Unfinished string `json:"unfinished,omitempty"`
	totals
	// Omitted counts the entries that were left out.
	Omitted int `json:"omitted,omitempty"`
}

// JSON writes the entries of each run of the journal that in holds as one line of JSON each, and then a line
// of the run: that has the member "session". Bounds and errors are those of [Text].
func JSON(w io.Writer, in io.Reader) error {
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	s := timelines(in)
	for {
		r, err := s.next()
		if err != nil {
			return errors.Join(readError(err), out.Flush())
		}
		for _, part := range [][]entry{r.kept.head, r.kept.tail} {
			for _, e := range part {
				err = errors.Join(err, enc.Encode(e))
			}
		}
		if err = errors.Join(err, enc.Encode(r.sum())); err != nil {
			return err
		}
	}
}

// sum is a run as a line of JSON.
func (r *run) sum() runLine {
	l := runLine{
		Run: r.number, Session: r.header.Session, Seed: r.header.Seed(), Begun: r.begun,
		Unfinished: r.underWay(), totals: r.totals, Omitted: r.kept.omitted,
	}
	if o := r.outcome; o != nil {
		l.OK, l.Reason = o.OK, o.Reason
	}
	return l
}
