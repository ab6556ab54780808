package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-go/retake/loop/machine"
)

// dull are the beginnings of what every round of good calls says.
var dull = []string{"run ", "accept ", "call the model"}

// rounds lets the model make the same calls many times, and shows only what is out of the ordinary.
func (sc *story) rounds(l *line) error {
	most, err := strconv.Atoi(l.name)
	if err != nil || most < 1 {
		return fmt.Errorf("how many: %q is no count of 1 or more", l.name)
	}
	every, err := l.duration("every")
	if err != nil {
		return err
	}
	var shown []string
	before := sc.calls
	for n := range most {
		sc.out = nil
		err := sc.round(l, strings.ReplaceAll(l.body, "{n}", strconv.Itoa(n+1)), every)
		for _, text := range sc.out {
			if !sc.isDull(text) {
				shown = append(shown, fmt.Sprintf("%d: %s", n+1, text))
			}
		}
		if sc.out = shown; err != nil {
			return err
		}
		if p := sc.runner.State().Phase; p != machine.Calling {
			break
		}
	}
	sc.say(fmt.Sprintf("%d calls, then %s", sc.calls-before, sc.runner.State().Phase))
	return nil
}

// isDull reports whether a line of a round says nothing that every round does not say.
func (sc *story) isDull(text string) bool {
	own := func(name string) bool {
		return strings.HasPrefix(text, name+" returns ") || strings.HasPrefix(text, name+" fails: ")
	}
	return slices.ContainsFunc(dull, func(lead string) bool { return strings.HasPrefix(text, lead) }) ||
		slices.ContainsFunc(sc.cfg.Tools.Names(), own)
}

// round makes one round: lines "tool {…} => outcome", each a reply, or all of them one.
func (sc *story) round(l *line, body string, every time.Duration) error {
	var calls []string
	together := l.has("together")
	for _, text := range strings.Split(body, "\n") {
		call, ends, found := strings.Cut(text, " => ")
		m := nativeCall.FindStringSubmatch(call)
		if !found || m == nil {
			return fmt.Errorf("%q is no line of a round: write tool {…} => result JSON, or another outcome", text)
		}
		o := outcome{tool: m[1]}
		if _, err := o.read(ends); err != nil {
			return err
		}
		if err := sc.will(o, l.place); err != nil {
			return err
		}
		if calls = append(calls, call); !together {
			if err := sc.oneReply(call, every); err != nil {
				return err
			}
			calls = nil
		}
	}
	if len(calls) == 0 {
		return nil
	}
	return sc.oneReply(strings.Join(calls, "\n"), every)
}

// oneReply makes one reply of a round, runs its tools, and lets the time pass until they may run.
func (sc *story) oneReply(body string, every time.Duration) error {
	if sc.runner.State().Phase != machine.Calling {
		sc.outcomes = nil
		return nil
	}
	sc.at = sc.at.Add(every)
	if err := sc.reply(&line{body: body, args: map[string]string{}}); err != nil {
		return err
	}
	for {
		if err := sc.runTools(); err != nil || sc.runner.State().Phase != machine.Waiting {
			return err
		}
		if err := sc.later(&line{name: sc.pending.Wait.Until.Sub(sc.at).String()}); err != nil {
			return err
		}
	}
}
