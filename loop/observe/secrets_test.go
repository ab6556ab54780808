package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// card has a secret of each kind. None has a form that shows that it is one.
type card struct {
	Holder string   `json:"holder" retake:"secret"`
	Code   int      `json:"code"   retake:"secret"`
	Backup []string `json:"backup" retake:"secret"`
	Shop   string   `json:"shop"`
}

const aCard = `{"holder": "Ana \"Zé\" <Lima>", "code": 4711, "backup": ["blue heron", "x7"], "shop": "corner"}`

var secretTexts = []string{`Ana "Zé" <Lima>`, `Ana \"Zé\" <Lima>`, `Ana \"Zé\" \u003cLima\u003e`, "4711", "blue heron", " x7"}

// logOf runs a model with the tool pay and returns all records.
func logOf(t *testing.T, pay func(context.Context, card) (string, error), turns ...looptest.Turn) string {
	t.Helper()
	tools, err := tool.NewSet(tool.New("pay", "Pay.", pay))
	require.NoError(t, err)
	var out bytes.Buffer
	_, _ = fixture.Run(t.Context(), looptest.NewModel(turns...), nil, loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools}, loop.WithObserver(observe.LogTo(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))))
	return texts(t, out.String())
}

// texts are the texts of a log, as they were before they were written as JSON.
func texts(t *testing.T, log string) string {
	t.Helper()
	var all strings.Builder
	for line := range strings.Lines(log) {
		var rec map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &rec))
		for name, value := range rec {
			if name != "time" && name != "duration" && name != "correlation_id" {
				fmt.Fprintf(&all, "%s: %v\n", name, value)
			}
		}
	}
	return all.String()
}

func TestWhatIsTaggedSecretIsInNoRecord(t *testing.T) {
	said := func(in card) string {
		quoted, err := json.Marshal(in)
		require.NoError(t, err)
		return fmt.Sprintf("no till takes %s of %v, %q, %d and %s", in.Holder, in.Backup, in.Holder, in.Code, quoted)
	}
	calls := looptest.Call(message.Call{ID: "1", Name: "pay", Arguments: aCard})
	for name, pay := range map[string]func(context.Context, card) (string, error){
		"an error":  func(_ context.Context, in card) (string, error) { return "", errors.New(said(in)) },
		"a failure": func(_ context.Context, in card) (string, error) { return "", tool.Fail(said(in)) },
		"a panic":   func(_ context.Context, in card) (string, error) { panic(said(in)) },
		"other advice": func(_ context.Context, in card) (string, error) {
			return "", tool.AskAgain(fault.Issue{Rule: "refused", Expected: said(in)})
		},
		"a loop of its own": func(ctx context.Context, in card) (string, error) {
			_, err := fixture.Run(ctx, looptest.NewModel(looptest.Fail(errors.New(said(in)))), nil, loop.Input{Prompt: "Find a till."}, loop.Config{})
			return "", err
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := logOf(t, pay, calls, looptest.Say(""), looptest.Fail(errors.New("the proxy says: "+aCard)))
			require.Contains(t, log, "run ended")
			for _, secret := range secretTexts {
				assert.NotContains(t, log, secret)
			}
		})
	}
}

// A model may write as many secrets as fit into a reply. They were compared each with each, for minutes.
func TestManySecretsAreNoneInAnyRecord(t *testing.T) {
	backup := make([]string, 90_000)
	for n := range backup {
		backup[n] = fmt.Sprintf("p%d", n)
	}
	list, err := json.Marshal(backup)
	require.NoError(t, err)
	arguments := fmt.Sprintf(`{"holder": "Ana", "code": 1, "backup": %s, "shop": "corner"}`, list)
	log := logOf(t, func(context.Context, card) (string, error) {
		return "", errors.New("no " + backup[89_999])
	}, looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: arguments}), looptest.Say("Well."))
	assert.NotContains(t, log, "p89999")
	assert.Contains(t, log, "[secret left out]")
}

// A raw schema that allows further members lets a model write a name in another case, and encoding/json reads
// it.
func TestASecretUnderItsNameInAnotherCaseIsInNoRecord(t *testing.T) {
	pay, err := tool.Raw("pay", "Pay.", []byte(`{"type":"object","properties":{"pin":{"x-secret":true}}}`),
		func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
			var in struct {
				PIN string `json:"pin"`
			}
			require.NoError(t, json.Unmarshal(args, &in))
			return nil, errors.New("no till takes " + in.PIN)
		})
	require.NoError(t, err)
	tools, err := tool.NewSet(pay)
	require.NoError(t, err)
	var out bytes.Buffer
	_, _ = fixture.Run(t.Context(), looptest.NewModel(looptest.Call(message.Call{ID: "1", Name: "pay", Arguments: `{"Pin":"blue heron"}`}), looptest.Say("Well.")), nil, loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools}, loop.WithObserver(observe.LogTo(slog.New(slog.NewJSONHandler(&out, nil)))))
	require.Contains(t, out.String(), "no till takes")
	assert.NotContains(t, out.String(), "heron")
}

func TestALoopInAToolHidesTheSecretsOfTheCallAroundIt(t *testing.T) {
	var out bytes.Buffer
	inner := slog.New(slog.NewJSONHandler(&out, nil))
	logOf(t, func(ctx context.Context, in card) (string, error) {
		_, err := fixture.Run(ctx, looptest.NewModel(looptest.Fail(errors.New("no till takes "+in.Holder))), nil, loop.Input{Prompt: "Find a till."}, loop.Config{}, loop.WithObserver(observe.LogTo(inner)))
		return "", err
	}, looptest.Call(message.Call{ID: "1", Name: "pay", Arguments: aCard}), looptest.Say("It failed."))
	require.Contains(t, out.String(), "no till takes")
	assert.NotContains(t, out.String(), "Lima")
}

type password struct {
	Word string `json:"word" retake:"secret"`
}

func (p password) Issues() []fault.Issue {
	return []fault.Issue{{Pointer: "/word", Rule: "taken", Expected: "another word than " + p.Word}}
}

func TestASecretAnswerIsInNoRecord(t *testing.T) {
	var out bytes.Buffer
	_, err := fixture.Generate[password](t.Context(), looptest.NewModel(fixture.Repeat(looptest.Say(`{"word": "heron"}`), 3)...), nil, loop.Input{Prompt: "A word?"}, loop.Config{}, loop.WithObserver(observe.LogTo(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))))
	require.Error(t, err)
	require.Contains(t, out.String(), "another word than")
	assert.NotContains(t, out.String(), "heron")
}

func TestANameThatTheModelInventedIsQuoted(t *testing.T) {
	const name = `pay level=ERROR msg="all is lost"`
	invented := looptest.Call(message.Call{ID: "1", Name: name, Arguments: `{}`})
	log := logOf(t, func(context.Context, card) (string, error) { return "", nil }, invented,
		looptest.Fail(&fault.ProviderError{Class: fault.Network}), looptest.Say("No."))
	assert.Contains(t, log, `action: "pay level=ERROR msg=\"all is lost\""`+"\n")
	assert.NotContains(t, log, "action: "+name)
}
