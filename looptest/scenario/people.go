package scenario

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// answer gives a person's answer to the question about a call; to the first one, if none is named. Below it
// are changed arguments for approve, the result for done, and words for the model for the others. An answer
// that the run does not take is shown.
func (sc *story) answer(l *line) error {
	r := machine.Response{Question: l.args["question"], Verdict: machine.Ruling(l.name), By: l.args["by"]}
	switch r.Verdict {
	case machine.Approve:
		r.Arguments = json.RawMessage(l.body)
	case machine.WasDone:
		r.Result = json.RawMessage(l.body)
	default:
		r.Words = l.body
	}
	if l.has("arguments") {
		r.Arguments = json.RawMessage(l.args["arguments"])
	}
	var err error
	if r.Policy, err = l.layer(); err != nil {
		return err
	}
	for _, a := range sc.runner.State().Asks() {
		if r.Question == "" && (!l.has("call") || a.CallID == l.args["call"]) {
			r.Question = a.ID
		}
	}
	if r.Question == "" {
		if r.Question = sc.asked[l.args["call"]]; r.Question == "" {
			return fmt.Errorf("nobody is asked about the call %q", l.args["call"])
		}
	}
	effects, err := sc.runner.Respond(sc.at, r)
	if misfit, ok := errors.AsType[*machine.AnswerError](err); ok {
		sc.say("not taken: " + misfit.Err.Error())
		if misfit.Why != "" {
			sc.say("  " + misfit.Why)
		}
		for _, i := range misfit.Issues {
			sc.say("  " + i.String())
		}
		return nil
	}
	return sc.fed(effects, err)
}

// spoken is a message of the user to the run. With "late" it comes while the model is called.
func (sc *story) spoken(l *line) error {
	w := session.Words{ID: l.args["id"], Text: l.body, By: l.args["by"], At: sc.at, Stop: l.has("stop"),
		Reset: l.has("reset")}
	if w.ID == "" {
		w.ID = fmt.Sprintf("said-%d", len(sc.runner.State().Spoken)+1)
	}
	return sc.fed(sc.runner.Say(sc.at, w, l.has("late")))
}
