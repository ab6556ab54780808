package loop_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/tool"
)

// What a provider, a tool or a model says reaches no terminal as a command to it: the texts of errors show
// invisible characters as escapes.
func TestErrorsCommandNoTerminal(t *testing.T) {
	const evil = "\x9b no\x1b[2J\x1b]0;title\x07 way\r\u202eback\u0085"
	foreign := errors.New(evil)
	run := func(turn looptest.Turn) error {
		set := policy.DefaultSet()
		set.Global.OptOut, set.Transport.OptOut = new(true), new(true)
		_, err := fixture.Run(t.Context(), looptest.NewModel(turn), newSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: bookRoom(t, booked), Policy: &set})
		require.Error(t, err)
		return err
	}
	issues := []fault.Issue{{Pointer: "/" + evil, Rule: "required", Expected: evil}}
	for name, err := range map[string]error{
		"a model's error":     run(looptest.Fail(foreign)),
		"a name of a model":   run(looptest.Call(message.Call{ID: "c1", Name: "boo\x1b[2Jk", Arguments: "{}"})),
		"arguments":           run(looptest.Call(call("book_room", `{"c\u001b[2J": 1}`))),
		"a typed error":       &fault.TransportError{Cause: foreign},
		"a provider's":        fault.Typed(fault.ProviderError{Class: fault.Auth, Message: evil}),
		"an own class":        &fault.ClassError{Class: "own", Cause: foreign},
		"a panic":             &fault.PanicError{Value: evil},
		"a panic of a tool":   &fault.PanicError{Tool: "pay", Value: foreign},
		"invalid arguments":   &fault.ToolValidationError{Tool: evil, Issues: issues},
		"an invalid answer":   &fault.StructuredOutputError{Issues: issues},
		"a limit":             &ratelimit.LimitedError{Err: foreign},
		"a tool asks again":   tool.AskAgain(issues...),
		"a tool fails":        tool.Fail(evil),
		"a tool is not there": tool.TryLater(foreign, 0),
	} {
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%s", err)} {
			odd := func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }
			assert.Negative(t, strings.IndexFunc(text, odd), "%s: %q", name, text)
			assert.Contains(t, text, `\x1b[2J`, name)
		}
	}
}
