package feedback_test

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/prompt"
)

// view is the session of a test.
type view struct {
	latest map[string]feedback.RetryFeedback
	all    []feedback.RetryFeedback
	slices map[string][]json.RawMessage
}

func (v view) LatestFeedback(action string) (feedback.RetryFeedback, bool) {
	f, ok := v.latest[action]
	return f, ok
}

func (v view) Feedback() iter.Seq[feedback.RetryFeedback] { return slices.Values(v.all) }

func (v view) Slice(name string) ([]json.RawMessage, bool) {
	items, ok := v.slices[name]
	return items, ok
}

// manyTimes is a view that counts how often all feedback is read.
type manyTimes struct {
	view
	read *int
}

func (v manyTimes) Feedback() iter.Seq[feedback.RetryFeedback] {
	*v.read++
	return v.view.Feedback()
}

// A session may have much feedback, and most templates show the latest of it.
func TestTheHistoryIsReadOnceAndOnlyByATemplateThatShowsIt(t *testing.T) {
	f := booking(1, nil, nightsIssue)
	for text, times := range map[string]int{
		"{{feedback}} {{attempt}}": 0,
		"{{range .History}}{{.Attempt}}{{end}}{{len history}}{{range history}}{{len $.History}}{{end}}": 1,
	} {
		read := 0
		parsed, err := prompt.Parse(text, nil)
		require.NoError(t, err)
		v := manyTimes{view{latest: map[string]feedback.RetryFeedback{"": f}, all: []feedback.RetryFeedback{f}}, &read}
		_, err = parsed.Prompt(v, 2, 3, feedback.DefaultLimits())
		require.NoError(t, err)
		assert.Equal(t, times, read, text)
	}
}

func firstAttempt() prompt.Data { return prompt.NewData(view{}, 1, 3, feedback.DefaultLimits()) }

func secondAttempt() prompt.Data {
	f := booking(1, nil, nightsIssue, roomIssue)
	v := view{
		latest: map[string]feedback.RetryFeedback{"": f, "book_room": f},
		all:    []feedback.RetryFeedback{f},
		slices: map[string][]json.RawMessage{"cart": {json.RawMessage(`{"room":"a","nights":2,"price":1.50,"big":12345678901234567890}`)}},
	}
	d := prompt.NewData(v, 2, 3, feedback.DefaultLimits())
	d.Vars = map[string]any{"question": "Two nights in Lisbon, please."}
	return d
}

func TestTemplateFunctions(t *testing.T) {
	cases := map[string]struct{ text, first, second string }{
		"feedback_in_with": {
			"Book.{{with feedback}} Tool {{.Tool}}, attempt {{.Attempt}} of {{.MaxAttempts}}: {{.Message}}{{end}}",
			"Book.", "Book. Tool book_room, attempt 1 of 3: nights: expected integer, got string; room: required",
		},
		"feedback_printed": {"[{{feedback}}]", "[]", "[" + feedback.Render(booking(1, nil, nightsIssue, roomIssue), feedback.DefaultLimits()) + "]"},
		"feedback_in_if":   {"{{if feedback}}again{{else}}first{{end}}", "first", "again"},
		"method_without_guard": {
			"{{(feedback).Attempt}}/{{(feedback).Tool}}/{{(feedback).Delay}}/{{(feedback).Last}}/{{len (feedback).Issues}}",
			"0//0s/false/0", "1/book_room/1.5s/false/2",
		},
		"feedback_for":  {`{{with feedbackFor "book_room"}}{{.Class}}{{end}}{{with feedbackFor "other"}}never{{end}}`, "", "tool_validation"},
		"history":       {"{{range history}}{{.Attempt}};{{else}}none{{end}}", "none", "1;"},
		"issues":        {"{{range issues}}{{.Place}}={{.Rule}} {{end}}", "", "nights=type room=required "},
		"issue_printed": {"{{range issues}}{{.}}|{{end}}", "", "nights: expected integer, got string|room: required|"},
		"numbers":       {"{{attempt}} of {{maxAttempts}}, {{.Attempt}} of {{.MaxAttempts}}", "1 of 3, 1 of 3", "2 of 3, 2 of 3"},
		"quote":         {`{{quote "a\n{{b}}"}}`, `a\n{ {b} }`, `a\n{ {b} }`},
		"json":          {`{{json "<s> {{x}}"}}`, `"\u003cs> \u007b{x\u007d}"`, `"\u003cs> \u007b{x\u007d}"`},
		"json_of_none":  {`{{json (feedback)}}`, "null", ""},
		"data_prints":   {"{{.}}", "", feedback.Render(booking(1, nil, nightsIssue, roomIssue), feedback.DefaultLimits())},
		"define":        {`{{define "a"}}x{{end}}{{template "a"}}{{template "a"}}`, "xx", "xx"},
		"printing":      {`{{printf "%s-%03d" "a" 7}} {{print 1 2}} {{println "x"}}{{html "<"}}`, "a-007 1 2 x\n&lt;", "a-007 1 2 x\n&lt;"},
		"blank_trimmed": {"{{range $n := 3}}\n {{- $n -}} \n{{end}}", "012", "012"},
		"break_in_loop": {"{{range $n := 9}}{{if eq $n 2}}{{break}}{{end}}{{$n}}{{end}}", "01", "01"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := prompt.Parse(c.text, nil)
			require.NoError(t, err)
			first, err := parsed.Render(firstAttempt())
			require.NoError(t, err)
			assert.Equal(t, c.first, first)
			second, err := parsed.Render(secondAttempt())
			require.NoError(t, err)
			if c.second != "" {
				assert.Equal(t, c.second, second)
			}
		})
	}
}

func TestTemplateReadsSlicesAndVars(t *testing.T) {
	parsed, err := prompt.Parse(`{{.Vars.question}}{{range values "cart"}} {{.room}} {{.nights}} {{.price}} {{.big}} {{json .}}{{end}}`, nil)
	require.NoError(t, err)
	text, err := parsed.Render(secondAttempt())
	require.NoError(t, err)
	assert.Equal(t, `Two nights in Lisbon, please. a 2 1.5 12345678901234567890 {"big":"12345678901234567890","nights":2,"price":1.5,"room":"a"}`, text)
}

func TestTemplateParseErrors(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"unclosed_action":  {"a\nb {{feedback", "prompt template, line 2: unclosed action"},
		"unclosed_block":   {"a\n{{if feedback}}b", "has no {{end}}"},
		"two_unclosed":     {"{{range history}}{{with .}}b", "has no {{end}}"},
		"unknown_function": {"a\n\n{{if nofeedback}}{{env \"HOME\"}}{{end}}", `prompt template, line 3: function "nofeedback" not defined; there are feedback, `},
		"unknown_in_pipe":  {`{{with (printf "%s" (shell "ls"))}}{{end}}`, `line 1: function "shell" not defined`},
		"extra_end":        {"{{end}}", "line 1: unexpected {{end}}"},
		"no_define":        {"a\n{{template \"b\"}}", `prompt template, line 2: there is no {{define "b"}}`},
		"no_variable":      {"{{$x}}", `undefined variable "$x"`},
		"too_long":         {strings.Repeat("a", 64<<10+1), "prompt template: the text must be at most 65536 bytes, is 65537"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := prompt.Parse(c.text, nil)
			require.ErrorContains(t, err, c.want)
			var ours *prompt.Error
			require.ErrorAs(t, err, &ours)
		})
	}
}

func TestTemplateRenderErrors(t *testing.T) {
	const doubling = `{{$x := "aaaaaaaaaa"}}{{range $n := 60}}{{$x = %s}}{{end}}`
	cases := map[string]struct{ text, want string }{
		"endless_loop":       {"a\n{{range 2000000000}}{{end}}", "prompt template, line 2: a loop, a recursion or a text exceeds the work limit of 1000000"},
		"long_loop":          {"{{range 50001}}{{end}}", "work limit"},
		"nested_loops":       {"{{range 100000}}{{range 100000}}{{end}}{{end}}", "work limit"},
		"recursion":          {`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`, "work limit"},
		"branching":          {`{{define "a"}}{{if gt . 0}}{{template "b" .}}{{template "b" .}}{{end}}{{end}}{{define "b"}}{{template "a" .}}{{end}}{{template "a" 1}}`, "work limit"},
		"doubling_print":     {strings.ReplaceAll(doubling, "%s", "print $x $x"), "work limit"},
		"doubling_printf":    {strings.ReplaceAll(doubling, "%s", `printf "%s%s" $x $x`), "work limit"},
		"doubling_js":        {strings.ReplaceAll(strings.ReplaceAll(doubling, "aaaaaaaaaa", `\\`), "%s", "js $x"), "work limit"},
		"wide_printf":        {`{{printf "%1000000d" 1}}`, "line 1: printf: a width has three digits at most"},
		"wide_by_argument":   {`{{printf "%*d" 1000000 1}}`, "printf: a width"},
		"argument_again":     {`{{printf "%[1]s%[1]s" "a"}}`, "printf: a width"},
		"much_output":        {"{{range 100000}}abcdefgh{{end}}", "the result is longer than 65536 bytes"},
		"missing_field":      {"\n{{.Nope}}", "prompt template, line 2: .Nope cannot be rendered: there is no such field or key"},
		"missing_var":        {"{{.Vars.nope}}", "prompt template, line 1: .Vars.nope cannot be rendered"},
		"missing_slice":      {`{{values "nope"}}`, `line 1: values "nope": the session has no slice of this name`},
		"quote_of_a_number":  {"{{quote 3}}", "cannot be rendered"},
		"no_room_for_a_loop": {`{{range history}}{{end}}{{range issues}}{{.Nope}}{{end}}`, "cannot be rendered"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			parsed, err := prompt.Parse(c.text, nil)
			require.NoError(t, err)
			_, err = parsed.Render(secondAttempt())
			require.ErrorContains(t, err, c.want)
			var ours *prompt.Error
			require.ErrorAs(t, err, &ours)
		})
	}
	parsed, err := prompt.Parse(`{{values "cart"}}`, nil)
	require.NoError(t, err)
	_, err = parsed.Render(prompt.Data{})
	require.ErrorContains(t, err, `values "cart": there is no session to read`)
}

func TestRenderWith(t *testing.T) {
	parsed, err := prompt.Parse("{{with feedback}}Not yet ({{.Attempt}}/{{.MaxAttempts}}):{{range issues}}\n* {{.}}{{end}}{{end}}", nil)
	require.NoError(t, err)
	f := booking(1, nil, roomIssue, nightsIssue)
	text, err := parsed.Words(f, feedback.DefaultLimits())
	require.NoError(t, err)
	assert.Equal(t, "Not yet (1/3):\n* nights: expected integer, got string\n* room: required", text)

	few, err := parsed.Words(f, feedback.Limits{MaxIssues: 1, MaxBytes: 30})
	require.NoError(t, err)
	assert.Equal(t, "Not yet (1/3):\n* nights: ex…", few)

	broken, err := prompt.Parse("{{.Nope}}", nil)
	require.NoError(t, err)
	_, err = broken.Words(f, feedback.DefaultLimits())
	require.ErrorContains(t, err, "cannot be rendered")
}

func TestRenderWithIsBoundedAndNeutral(t *testing.T) {
	parsed, err := prompt.Parse("{{with feedback}}{{.Tool}} ({{.Class}}): {{.Message}}\n{{.Detail}}\n{{.}}{{range .Issues}}\n"+
		"* {{.Place}} ({{.Rule}}): {{.Expected}}, {{.Got}} {{.Value}} / {{.Text}}{{end}}\n{{json .}}{{end}}", nil)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		f := feedback.New(genInput(nil).Draw(t, "input"))
		lim := feedback.Limits{MaxIssues: rapid.IntRange(0, 30).Draw(t, "issues"), MaxBytes: rapid.IntRange(0, 30000).Draw(t, "bytes")}
		text, err := parsed.Words(f, lim)
		if err != nil {
			t.Fatal(err)
		}
		checkText(t, strings.ReplaceAll(text, "\n\n", "\n"), lim.MaxBytes)
	})
}

func TestTemplateIsSafeForConcurrentUse(t *testing.T) {
	parsed, err := prompt.Parse("{{range 10}}{{attempt}}{{end}}{{feedback}}", nil)
	require.NoError(t, err)
	want, err := parsed.Render(secondAttempt())
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := parsed.Render(secondAttempt())
			assert.NoError(t, err)
			assert.Equal(t, want, got)
		})
	}
	wg.Wait()
}

func TestJSONReadsBack(t *testing.T) {
	parsed, err := prompt.Parse(`{{json .Vars.x}}`, nil)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.MapOf(rapid.String(), rapid.SliceOfN(genText(), 0, 3)).Draw(t, "x")
		clean := map[string][]string{}
		for _, k := range sortedKeys(x) {
			for _, s := range x[k] {
				clean[k] = append(clean[k], strings.ToValidUTF8(s, "?"))
			}
		}
		text, err := parsed.Render(prompt.Data{Vars: map[string]any{"x": clean}})
		if err != nil {
			t.Fatal(err)
		}
		checkText(t, text, len(text))
		var back map[string][]string
		if err := json.Unmarshal([]byte(text), &back); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, k := range sortedKeys(clean) {
			if !slices.Equal(clean[k], back[k]) {
				t.Fatalf("%q is not %q: %s", back[k], clean[k], text)
			}
		}
	})
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		"{{with feedback}}{{.}}{{end}}", `{{range issues}}{{.Text | quote}}{{end}}`, `{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`,
		"{{range 1000000000}}{{end}}", `{{$x := "a"}}{{range 99}}{{$x = printf "%s%s" $x $x}}{{end}}`, `{{json .}}`, "{{if", "{{end}}",
		`{{with $x := values "cart"}}{{index $x 0}}{{end}}`, `{{printf "%9999999d" 1}}`, `{{slice (feedback).Message 0 3}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := prompt.Parse(text, nil)
		if err != nil {
			requireOurs(t, err)
			return
		}
		for _, d := range []prompt.Data{firstAttempt(), secondAttempt()} {
			one, err := parsed.Render(d)
			if err != nil {
				requireOurs(t, err)
			}
			require.LessOrEqual(t, len(one), 64<<10)
			two, again := parsed.Render(d)
			require.Equal(t, one, two)
			require.Equal(t, err == nil, again == nil)
		}
	})
}

func requireOurs(t *testing.T, err error) {
	t.Helper()
	var ours *prompt.Error
	require.ErrorAs(t, err, &ours)
	require.NotContains(t, err.Error(), "template: prompt")
}

func BenchmarkTemplateRender(b *testing.B) {
	parsed, err := prompt.Parse("{{.Vars.question}}{{with feedback}}\n{{.}}{{end}}", nil)
	require.NoError(b, err)
	d := secondAttempt()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parsed.Render(d); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAPlainTextInPlaceOfFeedbackIsCutToTheLimit(t *testing.T) {
	parsed, err := prompt.Parse("Please fix your arguments.", nil)
	require.NoError(t, err)
	text, err := parsed.Words(booking(1, nil, nightsIssue), feedback.Limits{MaxIssues: 1, MaxBytes: 13})
	require.NoError(t, err)
	assert.Equal(t, "Please fix…", text)
}

func TestATextWithoutActionsIsAsItIs(t *testing.T) {
	for _, text := range []string{"You book rooms.\n", "{ } }} { {", strings.Repeat("a", 64<<10)} {
		parsed, err := prompt.Parse(text, nil)
		require.NoError(t, err)
		rendered, err := parsed.Prompt(nil, 1, 3, feedback.DefaultLimits())
		require.NoError(t, err)
		assert.Equal(t, text, rendered)
	}
	_, err := prompt.Parse(strings.Repeat("a", 64<<10+1), nil)
	require.EqualError(t, err, "prompt template: the text must be at most 65536 bytes, is 65537")
}
