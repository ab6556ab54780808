package loop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// charge is the argument of a payment. Its card must not be in a journal.
type charge struct {
	City string `json:"city" retake:"echo"`
	Card string `json:"card" retake:"secret"`
}

// cardNumber is the secret of the leaks.
const cardNumber = "S3CR3T"

// paying makes the tool of a leak.
type paying = func(context.Context, charge) (string, error)

// leak is a run in which the card is somewhere that no rule names.
type leak struct {
	turns   []looptest.Turn
	pay     paying
	rules   journal.Redaction
	cfg     loop.Config
	in      loop.Input
	output  bool
	refuses bool
}

func pays(arguments string) looptest.Turn { return looptest.Call(call("pay", arguments)) }

// cutOff is a truncated reply.
func cutOff(r message.Reply) looptest.Turn {
	r.Finish = message.Length
	return looptest.Turn{Reply: r}
}

var (
	goodPay  = pays(`{"city":"Lisbon","card":"S3CR3T"}`)
	goodBye  = looptest.Say("done")
	inResult = journal.Redaction{Tools: map[string]journal.ToolRedaction{"pay": {Result: []string{""}}}}
)

// saysCard is a tool whose outcome has the card.
func saysCard(say func(context.Context, string) (string, error)) paying {
	return func(ctx context.Context, c charge) (string, error) { return say(ctx, c.Card) }
}

func failsWith(err func(card string) error) paying {
	return saysCard(func(_ context.Context, card string) (string, error) { return "", err(card) })
}

var emits = saysCard(func(ctx context.Context, card string) (string, error) {
	return "", errors.Join(tool.Progress(ctx, card), tool.Emit(ctx, "booked", card))
})

// earlier is the conversation of an earlier run.
var earlier = []message.Message{
	{Role: message.User, Text: "Hello."},
	{Role: message.Assistant, Calls: []message.Call{call("pay", `{"city":"Faro","card":"S3CR3T"}`)}},
	{Role: message.Tool, CallID: "c1", Name: "pay", Text: `"paid with S3CR3T"`},
	{Role: message.Assistant, Text: `<tool_call>{"name":"pay","arguments":{"card":"S3CR3T"}}</tool_call>`},
}

// earlierNamed is an earlier call of a tool that does not exist.
var earlierNamed = []message.Message{
	{Role: message.User, Text: "Hello."},
	{Role: message.Assistant, Calls: []message.Call{call("S3CR3T", `{}`)}},
	{Role: message.Tool, CallID: "c1", Name: "S3CR3T", Text: "none"},
}

// leaks are the runs by the place of the card.
var leaks = map[string]leak{
	"arguments":          {turns: []looptest.Turn{goodPay, goodBye}},
	"argument_misnamed":  {turns: []looptest.Turn{pays(`{"city":"Lisbon","crad":"S3CR3T"}`), goodPay, goodBye}},
	"argument_elsewhere": {turns: []looptest.Turn{pays(`{"payment":{"card":"S3CR3T"}}`), pays(`["S3CR3T"]`), goodPay, goodBye}},
	"argument_echoed": {
		turns: []looptest.Turn{pays(`{"city":["S3CR3T"],"card":5}`), goodPay, goodBye},
		rules: journal.Redaction{Tools: map[string]journal.ToolRedaction{"pay": {Arguments: []string{"/city"}}}},
	},
	"tool_misnamed":       {turns: []looptest.Turn{looptest.Call(call("payy", `{"card":"S3CR3T"}`)), goodPay, goodBye}},
	"name_of_a_member":    {turns: []looptest.Turn{pays(`{"city":"Lisbon","S3CR3T":1,"card":"x"}`), goodPay, goodBye}},
	"names_out_of_order":  {turns: []looptest.Turn{pays(`{"city":"Lisbon","S3CR3T":1,"aS3CR3T":{"b":2},"zS3CR3T":3,"card":"x"}`), goodPay, goodBye}},
	"name_with_escapes":   {turns: []looptest.Turn{pays(`{"city":"Lisbon","\u0053\u0033CR3T/~\n\u00e9\"":1,"card":"x"}`), goodPay, goodBye}},
	"name_said_twice":     {turns: []looptest.Turn{pays(`{"S3CR3T":1,"S3CR3T":2}`), goodPay, goodBye}},
	"name_below_a_secret": {turns: []looptest.Turn{pays(`{"city":"Lisbon","card":{"S3CR3T":1}}`), goodPay, goodBye}},
	"name_like_a_mark":    {turns: []looptest.Turn{pays(`{"[redacted 00112233445566778899aabbccddeeff, 6 bytes]":1,"S3CR3T":2}`), goodPay, goodBye}},
	"name_in_an_answer":   {turns: []looptest.Turn{looptest.Say(`{"city":"Lisbon","card":"x","S3CR3T":1}`), looptest.Say(`{"city":"Lisbon","card":"S3CR3T"}`)}, output: true},
	"name_in_text_form":   {turns: []looptest.Turn{looptest.Say(`<tool_call>{"name":"pay","arguments":{"S3CR3T":1}}</tool_call>`), goodPay, goodBye}},
	"name_of_a_tool":      {turns: []looptest.Turn{looptest.Call(call("pay_S3CR3T", `{"card":5}`), call("S3CR3T", `{}`)), goodPay, goodBye}},
	"name_of_a_tool_text": {turns: []looptest.Turn{looptest.Say(`<tool_call>{"name":"pay_S3CR3T","arguments":{}}</tool_call>`), goodPay, goodBye}},
	"name_in_history":     {turns: []looptest.Turn{goodBye}, in: loop.Input{History: earlierNamed}},
	"name_in_tools_issue": {turns: []looptest.Turn{goodPay, goodPay, goodPay}, pay: failsWith(func(card string) error {
		return tool.AskAgain(fault.Issue{Pointer: "/" + card + "/0", Rule: "known", Expected: "another"})
	})},
	"name_by_replies":      {turns: []looptest.Turn{looptest.Call(call("S3CR3T", `{}`)), goodBye}, rules: journal.Redaction{Replies: true}},
	"text_form":            {turns: []looptest.Turn{looptest.Say(`<tool_call>{"name":"pay","arguments":{"city":"Lisbon","card":"S3CR3T"}}</tool_call>`), goodBye}},
	"text_form_misnamed":   {turns: []looptest.Turn{looptest.Say(`<tool_call>{"name":"payy","arguments":{"card":"S3CR3T"}}</tool_call>`), goodBye}},
	"text_form_cut_off":    {turns: []looptest.Turn{cutOff(message.Reply{Text: `<tool_call>{"name":"pay","arguments":{"card":"S3CR3T`})}},
	"text_form_calls_only": {turns: []looptest.Turn{looptest.Say(`I pay with card: S3CR3T`), goodPay}, cfg: loop.Config{CallsOnly: true}},
	"calls_cut_off":        {turns: []looptest.Turn{cutOff(message.Reply{Calls: []message.Call{call("pay", `{"card":"S3CR3T`)}})}},
	"opaque":               {turns: []looptest.Turn{{Reply: message.Reply{Calls: goodPay.Reply.Calls, Opaque: "S3CR3T"}}, goodBye}},
	"words_beside_a_call":  {turns: []looptest.Turn{{Reply: message.Reply{Calls: goodPay.Reply.Calls, Text: "I charge S3CR3T."}}, goodBye}},
	"thinking":             {turns: []looptest.Turn{{Reply: message.Reply{Calls: goodPay.Reply.Calls, Thinking: "S3CR3T"}}, goodBye}},
	"tool_error":           {turns: []looptest.Turn{goodPay, goodBye}, pay: failsWith(func(card string) error { return errors.New("no card " + card) })},
	"tool_panic":           {turns: []looptest.Turn{goodPay, goodBye}, pay: failsWith(func(card string) error { panic("no card " + card) })},
	"tool_transport": {turns: []looptest.Turn{goodPay}, pay: failsWith(func(card string) error {
		return &fault.ProviderError{Class: fault.Network, Provider: "bank", Message: "no card " + card}
	})},
	"tool_validation": {turns: []looptest.Turn{goodPay, goodBye}, pay: failsWith(func(card string) error {
		return &fault.ToolValidationError{Tool: "pay", Issues: []fault.Issue{{Pointer: "/card", Rule: "known", Expected: "not " + card, Value: card}}}
	})},
	"tool_asks": {turns: []looptest.Turn{goodPay, goodPay, goodPay}, pay: failsWith(func(card string) error {
		return tool.AskAgain(fault.Issue{Pointer: "/card", Rule: "known", Expected: "not " + card, Value: card})
	})},
	"tool_failed": {turns: []looptest.Turn{goodPay, goodBye}, pay: failsWith(func(card string) error { return tool.Fail("no card " + card) })},
	"tool_result": {turns: []looptest.Turn{goodPay, goodBye}, rules: inResult, pay: saysCard(func(_ context.Context, card string) (string, error) { return card, nil })},
	"tool_emits":  {turns: []looptest.Turn{goodPay, goodBye}, pay: emits},
	"tool_media": {turns: []looptest.Turn{goodPay, goodBye}, rules: inResult, pay: saysCard(func(ctx context.Context, card string) (string, error) {
		return card, tool.Attach(ctx, message.Link(message.ImagePart, "https://example.com/"+card))
	})},
	"prompt_media": {
		turns: []looptest.Turn{goodBye}, rules: journal.Redaction{Prompts: true},
		in: loop.Input{Attach: []message.Part{{Kind: message.TextPart, Text: "S3CR3T"}}},
	},
	"reducer":     {turns: []looptest.Turn{goodPay, goodBye}, pay: emits, refuses: true},
	"history":     {turns: []looptest.Turn{goodBye}, in: loop.Input{History: earlier}},
	"answer":      {turns: []looptest.Turn{looptest.Say(`{"city":["S3CR3T"],"crad":"S3CR3T"}`), looptest.Say(`{"city":"Lisbon","card":"S3CR3T"}`)}, output: true},
	"answer_cut":  {turns: []looptest.Turn{cutOff(message.Reply{Text: `{"city":"Lisbon","card":"S3CR3T`})}, output: true},
	"refusal":     {turns: []looptest.Turn{{Reply: message.Reply{Refusal: "not S3CR3T"}}}, rules: journal.Redaction{Replies: true}},
	"system":      {turns: []looptest.Turn{goodBye}, rules: journal.Redaction{Prompts: true}, cfg: loop.Config{System: "The card is S3CR3T."}},
	"system_size": {turns: []looptest.Turn{goodBye}, rules: journal.Redaction{MaxBytes: 10}, cfg: loop.Config{System: "The card is S3CR3T."}},
	"vars":        {turns: []looptest.Turn{goodBye}, rules: journal.Redaction{Prompts: true}, cfg: loop.Config{System: "The card is {{.Vars.card}}.", Vars: map[string]any{"card": "S3CR3T"}}},
	"vars_size":   {turns: []looptest.Turn{pays(`{"card":5}`), goodBye}, rules: journal.Redaction{MaxBytes: 40}, cfg: loop.Config{System: "The card is {{.Vars.card.number}}.", Vars: map[string]any{"card": map[string]string{"number": strings.Repeat("S3CR3T ", 9)}}}},
	"vars_cut":    {turns: []looptest.Turn{goodBye}, rules: journal.Redaction{MaxBytes: 40}, cfg: loop.Config{System: "The card is {{slice .Vars.card 6 200}}.", Vars: map[string]any{"card": strings.Repeat("S3CR3T ", 90)}}},
	"words_fail":  {turns: []looptest.Turn{pays(`{"card":5}`), goodBye}, rules: journal.Redaction{Prompts: true}, cfg: loop.Config{Feedback: `{{(index .Vars.card "S3CR3T").no}}{{.Vars.card.S3CR3T}}`, Vars: map[string]any{"card": map[string]any{}}}},
	"words_size":  {turns: []looptest.Turn{pays(`{"card":5}`), goodBye}, rules: journal.Redaction{MaxBytes: 10}, cfg: loop.Config{Feedback: `{{.Vars.card.S3CR3T}}`, Vars: map[string]any{"card": map[string]any{}}}},
	"vars_words":  {turns: []looptest.Turn{pays(`{"card":5}`), goodBye}, rules: journal.Redaction{Prompts: true}, cfg: loop.Config{Feedback: "The card is {{.Vars.card}}.", Vars: map[string]any{"card": "S3CR3T"}}},
	"stop":        {turns: []looptest.Turn{goodBye}, rules: journal.Redaction{Prompts: true}, cfg: loop.Config{Stop: []string{"END", "Card S3CR3T"}}},
	"template":    {turns: []looptest.Turn{pays(`{"card":5}`), goodBye}, rules: journal.Redaction{Prompts: true}, cfg: loop.Config{Feedback: "The card is S3CR3T."}},
	"call_failure": {
		turns: []looptest.Turn{looptest.Fail(&fault.ProviderError{Class: fault.Network, Provider: "example", Message: "bad prompt: S3CR3T"}), goodBye},
		rules: journal.Redaction{Prompts: true},
	},
}

func TestASecretIsInNoOtherPlaceOfAJournalEither(t *testing.T) {
	for name, l := range leaks {
		t.Run(name, func(t *testing.T) {
			store := &kept{texts: map[string]string{}}
			l.rules.Transcripts = store
			dir := t.TempDir()
			settings, state, keys := l.run(t, dir)
			text, err := os.ReadFile(storyFile(dir))
			require.NoError(t, err)
			assert.NotContains(t, string(text), cardNumber)
			assert.NotContains(t, string(text), `u0053`, "nor as the model escaped it")
			for _, key := range keys {
				assert.NotContains(t, string(text), key, "a key is a hash of the arguments: who can guess them could prove it")
			}
			_, err = journal.Replay(bytes.NewReader(text), nil)
			require.NoError(t, err)
			j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", settings)
			require.NoError(t, err)
			defer j.Close()
			past, err := j.Past()
			require.NoError(t, err)
			was, err := past.State.Session.Snapshot()
			require.NoError(t, err)
			assert.Equal(t, state, string(was), "with the transcripts the journal is that of the run")
		})
	}
}

// run makes the run. It returns the settings for reading it, the last state of the session, and the
// idempotency keys of the calls.
func (l leak) run(t *testing.T, dir string) (with journal.Settings, state string, keys []string) {
	t.Helper()
	if l.pay == nil {
		l.pay = func(context.Context, charge) (string, error) { return "paid", nil }
	}
	tools, err := tool.NewSet(tool.New("pay", "Pay.", func(ctx context.Context, c charge) (string, error) {
		keys = append(keys, tool.IdempotencyKey(ctx))
		return l.pay(ctx, c)
	}))
	require.NoError(t, err)
	l.cfg.Tools, l.in.Prompt = tools, "Pay."
	if l.output {
		typed, err := schema.For[charge]()
		require.NoError(t, err)
		l.cfg.Output = typed.Schema()
	}
	rules := loop.Redact(l.rules, l.cfg)
	settings := journal.Settings{Redact: &rules}
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", settings)
	require.NoError(t, err)
	s := storySession(t)
	if l.refuses {
		s = refusing(t)
	}
	_, err = fixture.Run(t.Context(), looptest.NewModel(l.turns...), fixture.In(s, j), l.in, l.cfg, loop.WithClock(looptest.NewClock()))
	if exhausted := (*loop.RetryExhaustedError)(nil); !errors.As(err, &exhausted) {
		require.NoError(t, err)
	}
	require.NoError(t, j.Close())
	raw, err := s.State().Snapshot()
	require.NoError(t, err)
	return settings, string(raw), keys
}

// A session that ran without redaction before is left out of the header, names included.
func TestWhatARunBeforeWasToldIsInNoHeader(t *testing.T) {
	tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, charge) (string, error) { return "paid", nil }))
	require.NoError(t, err)
	cfg, s := loop.Config{Tools: tools}, newSession(t)
	turns := []looptest.Turn{looptest.Call(call("S3CR3T", `{}`)), pays(`{"city":"Lisbon","S3CR3T":1,"card":"x"}`), goodPay, goodBye}
	_, err = fixture.Run(t.Context(), looptest.NewModel(turns...), s, loop.Input{Prompt: "Pay."}, cfg, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.Equal(t, 4, s.State().AttemptCount())
	dir, rules := t.TempDir(), loop.Redact(journal.Redaction{}, cfg)
	j, err := journal.Open(t.Context(), journal.Dir(dir), s.ID(), journal.Settings{Redact: &rules})
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), looptest.NewModel(goodBye), fixture.In(s, j), loop.Input{Prompt: "Hi."}, cfg, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	text, err := os.ReadFile(filepath.Join(dir, journal.FileName(s.ID())))
	require.NoError(t, err)
	assert.NotContains(t, string(text), cardNumber)
	_, err = journal.Replay(bytes.NewReader(text), nil)
	require.NoError(t, err)
}

// refusing is a session whose reducer puts its input into an error.
func refusing(t *testing.T) *session.Session {
	t.Helper()
	s, err := session.New(session.Config{
		Slices: []session.Declared{cities},
		Reducers: []session.Reducer{session.On(cities, "booked", "keep", func(_ reducer.View[string], card string) (reducer.Change[string], error) {
			return reducer.Change[string]{}, fmt.Errorf("cannot keep %s", card)
		})},
	})
	require.NoError(t, err)
	return s
}

func TestARedactedRunThatDiedAtItsHeaderIsStillRedacted(t *testing.T) {
	rules := journal.Redaction{Prompts: true}
	whole := t.TempDir()
	l := leak{turns: []looptest.Turn{goodBye}, rules: rules}
	l.run(t, whole)
	text, err := os.ReadFile(storyFile(whole))
	require.NoError(t, err)
	header, _, _ := strings.Cut(string(text), "\n")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(storyFile(dir), []byte(header+"\n"), 0o600))
	l.run(t, dir)
	again, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	assert.Equal(t, 1, strings.Count(string(again), `"header"`), "the same run begins")
	assert.NotContains(t, string(again), "Pay.")
}

func TestWhatATryWithASecretFailedWithIsLeftOut(t *testing.T) {
	dir := t.TempDir()
	rules := journal.Redaction{Tools: map[string]journal.ToolRedaction{"pay": {Arguments: []string{"/card"}}}}
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{Redact: &rules})
	require.NoError(t, err)
	fails := []error{
		&fault.ToolValidationError{Tool: "pay", Issues: []fault.Issue{{Pointer: "/card", Rule: "known", Expected: "not S3CR3T"}}},
		&fault.ProviderError{Class: fault.Network, Provider: "bank", Message: "no card S3CR3T"},
	}
	_, err = loop.Do(t.Context(), fixture.In(newSession(t), j), loop.ToolCall("pay"), func(context.Context, loop.Attempt) (string, error) {
		if len(fails) == 0 {
			return "paid", nil
		}
		next := fails[0]
		fails = fails[1:]
		return "", next
	}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	text, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	assert.NotContains(t, string(text), cardNumber)
}

func TestOfAResultThatLandsAfterTheRunNothingIsKept(t *testing.T) {
	dir := t.TempDir()
	rules := journal.Redaction{Tools: map[string]journal.ToolRedaction{"pay": {Arguments: []string{"/card"}, Result: []string{""}}}}
	j, err := journal.Open(t.Context(), journal.Dir(dir), "order-42", journal.Settings{Redact: &rules})
	require.NoError(t, err)
	tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, charge) (string, error) { return "paid", nil }))
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), looptest.NewModel(goodPay, goodBye), fixture.In(newSession(t), j), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
	require.NoError(t, err)
	late := journal.Note{
		Kind: journal.ResultLanded, Key: "that of a tool that outlived its run", End: &machine.ToolEnd{Verdict: machine.Done, Result: []byte(`"S3CR3T"`)},
	}
	require.NoError(t, j.Note(late))
	require.NoError(t, j.Close())
	text, err := os.ReadFile(storyFile(dir))
	require.NoError(t, err)
	assert.NotContains(t, string(text), cardNumber)
	assert.NotContains(t, string(text), `"landed"`, "nobody waits for it")
}
