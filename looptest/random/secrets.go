package random

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
)

// The secrets that a redacted journal must not hold if its rules name their place. Each begins with secret.
const (
	secret = "4000-1234-"

	historySecret = secret + "history"
	varSecret     = secret + "var"
	planSecret    = secret + "plan"
	noteSecret    = secret + "note"
	moreSecret    = secret + "more"
	nameSecret    = secret + "name"
	resultSecret  = secret + "result"
	emittedSecret = secret + "emitted"
	faultSecret   = secret + "fault"
	replySecret   = secret + "reply"
	cardSecret    = secret + "card"
	wrongSecret   = secret + "wrong"
	reducerSecret = secret + "reducer"
	plannerSecret = secret + "planner"
	wordsSecret   = secret + "words"
)

// Leaks reports a secret of the case in a text that was made from its redacted journal, such as a page, if
// the rules of the case leave the secret out. [World.ReadJournal] looks at the journal itself.
func (w *World) Leaks(text []byte) error {
	for _, s := range w.leftOut() {
		if at := bytes.Index(text, []byte(s)); at >= 0 {
			line := text[bytes.LastIndexByte(text[:at], '\n')+1:]
			line, _, _ = bytes.Cut(line, []byte("\n"))
			return fmt.Errorf("the secret %s was left out of the journal, and stands in: %s", s, line)
		}
	}
	return nil
}

// leftOut returns the secrets, or what they begin with, that the rules leave out.
func (w *World) leftOut() (all []string) {
	rules := loop.Redact(w.Case.Redact, w.Config)
	any := rules.Tools["*"]
	tools := slices.Contains(any.Arguments, "") && slices.Contains(any.Result, "")
	whole := slices.Contains(rules.Answer, "")
	if tools && whole && rules.Prompts && rules.Replies && len(rules.Slices) == len(w.Case.Slices) {
		return []string{secret}
	}
	if rules.Prompts {
		all = append(all, historySecret, varSecret, planSecret, wordsSecret)
	}
	if rules.Replies {
		all = append(all, replySecret, nameSecret, cardSecret, wrongSecret)
	}
	if len(w.Case.Output) > 0 { // the card is marked in its schema
		all = append(all, cardSecret)
	}
	if len(w.Case.Output) > 0 && whole {
		all = append(all, wrongSecret)
	}
	if w.everyTool(rules, func(t journal.ToolRedaction) []string { return t.Result }, "") {
		all = append(all, resultSecret)
	}
	if w.everyTool(rules, func(t journal.ToolRedaction) []string { return t.Arguments }, "") {
		all = append(all, emittedSecret)
		all = append(all, w.saidInCalls(noteSecret, moreSecret, nameSecret)...)
	}
	if w.everyTool(rules, func(t journal.ToolRedaction) []string { return t.Arguments }, "/note") {
		all = append(all, w.saidInCalls(noteSecret)...)
	}
	return all
}

// saidInCalls returns those of the secrets that models say in native calls alone. In a text they may be an
// answer, which the rules for tools do not name.
func (w *World) saidInCalls(secrets ...string) []string {
	return slices.DeleteFunc(secrets, func(s string) bool {
		return slices.ContainsFunc(w.Case.Replies, func(r replyCase) bool { return strings.Contains(r.Text, s) })
	})
}

// everyTool reports whether the rules for every tool name a place.
func (w *World) everyTool(
	rules journal.Redaction, places func(journal.ToolRedaction) []string, place string,
) bool {
	for _, t := range w.Case.Tools {
		if !slices.Contains(slices.Concat(places(rules.Tools["*"]), places(rules.Tools[t.Name])), place) {
			return false
		}
	}
	return len(w.Case.Tools) > 0
}
