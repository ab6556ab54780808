package scenario

import (
	"fmt"

	"github.com/retake-go/retake/session"
)

// spoken is a message of the user to the run. With "late" it comes while the model is called.
func (sc *story) spoken(l *line) error {
	w := session.Words{ID: l.args["id"], Text: l.body, By: l.args["by"], At: sc.at, Stop: l.has("stop"),
		Reset: l.has("reset")}
	if w.ID == "" {
		w.ID = fmt.Sprintf("said-%d", len(sc.runner.State().Spoken)+1)
	}
	return sc.fed(sc.runner.Say(sc.at, w, l.has("late")))
}
