package scenario

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/tool"
)

func begun(t *testing.T, opts ...Option) *story {
	t.Helper()
	sc, err := newStory(opts...)
	require.NoError(t, err)
	return sc
}

// perform runs the lines of a story and returns the error of the last.
func perform(t *testing.T, told string) error {
	t.Helper()
	sc := begun(t)
	var last error
	for _, text := range strings.Split(told, "\n\n") {
		require.NoError(t, last)
		head, body, _ := strings.Cut(text, "\n")
		cmd, args, err := datadriven.ParseLine(head)
		require.NoError(t, err)
		last = sc.perform(&datadriven.TestData{Cmd: cmd, CmdArgs: args, Input: body})
	}
	return last
}

func TestMistakesOfAStoryAreNamed(t *testing.T) {
	const started = "tool book_room\ncity: string\n\nstart\nBook.\n\n"
	for _, tt := range []struct{ name, story, want string }{
		{"unknown_verb", "repyl\nhello", `there is no verb "repyl"; there are abandon, adjust,`},
		{"unknown_argument", started + "reply fnish=length\nhi", `reply: it takes no argument "fnish"; it takes finish=…, refusal=…, tokens=…, text`},
		{"flag_with_a_value", started + "reply text=yes\nhi", `reply: it takes no argument "text"`},
		{"name_missing", "tool\ncity: string", "tool: say the tool's name"},
		{"body_missing", "tool book_room", "tool: something is missing below it"},
		{"body_too_much", started + "cancel\nplease", "cancel: nothing stands below it"},
		{"set_up_too_late", started + "policy\nmax_attempts: 4", "policy: it stands before the first start"},
		{"too_early", "reply\nhi", "reply: there is no run yet: start one first"},
		{"bad_duration", started + "later soon", `later: how long: "soon" is no duration: write 500ms, 2s or 1m30s`},
		{"negative_duration", started + "later -1s", `"-1s" is no duration`},
		{"bad_tokens", started + "reply tokens=many\nhi", "tokens: write (120,30)"},
		{"bad_type", "tool book_room\nnights: int", `tool: nights: "int" is no type: write string, integer,`},
		{"bad_mark", "tool book_room\nnights: integer, maybe", `nights: "maybe" is neither required nor optional`},
		{"no_member", "tool book_room\nnights", `"nights" is no member: write name: type`},
		{"bad_schema", "tool book_room\n{\"type\": 7}", "book_room"},
		{"bad_outcome", "outcome book_room\nreturn 1", `"return 1" is no outcome: write result,`},
		{"outcome_of_no_tool_of_the_program", "outcome book_room\nitself", `"itself" is for the tools of the program, and book_room is none`},
		{"open_outcome", "outcome book_room\nemit bought 1", "the last line must say how the run ends"},
		{"bad_issue", started + "fault tool_validation\nnights wrong", `"nights wrong" is no issue: write /pointer rule`},
		{"misspelt_class", started + "fault rate_limt", `fault: "rate_limt" looks like a misspelled class; write rate_limit`},
		{"misspelt_class_of_an_outcome", started + "outcome book_room\nfault: timout", `outcome: "timout" looks like a misspelled class; write timeout`},
		{"misspelt_class_of_ones_own", started + "outcome book_room\nclass: truncatd", `outcome: "truncatd" looks like a misspelled class`},
		{"kind_of_slice", "slice cart", "slice: say state or log"},
		{"reducer_without_slice", "reducer cart on=bought slice=cart do=append", `there is no slice "cart": declare it first`},
		{"reducer_that_does_nothing", "slice cart state\n\nreducer cart on=bought slice=cart do=sell", `do: "sell" is none of append,`},
		{"no_header", started + "fault rate_limit\nretry after 7", `"retry after 7" is no header: write name: value`},
		{"bad_ladder", "ladder ask=soon\nbackup", `ask: "soon" is no duration`},
		{"unknown_form", started + "envelope yaml", "yaml"},
		{"try_of_nothing", "start single=answer\n\ntry", "try: say ok, or what was wrong"},
		{"try_of_both", "start single=answer\n\ntry ok\n/a required", "try: say ok, or what was wrong"},
		{"try_without_an_action", started + "try ok", "try: there is no single action: start single=TOOL"},
		{"adjusting_budgets", started + "adjust\nbudgets: {run: 1}", "one policy may stand here"},
		{"adjusting_nonsense", started + "adjust\nmax_attempts: 0", "max_attempts: 0 is too few"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.ErrorContains(t, perform(t, tt.story), tt.want)
		})
	}
}

// A tool of the program that a story gave outcomes does not run behind the story's back once they are used
// up.
func TestAToolWithOutcomesRunsOnlyWhenTheStorySaysSo(t *testing.T) {
	ran := 0
	pay := tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) { ran++; return "paid", nil })
	set, err := tool.NewSet(pay)
	require.NoError(t, err)
	tell := func(sc *story, lines ...datadriven.TestData) (err error) {
		for n := range lines {
			require.NoError(t, err)
			lines[n].Pos = fmt.Sprintf("pay.txt:%d", n+1)
			err = sc.perform(&lines[n])
		}
		return err
	}
	arg := []datadriven.CmdArg{{Key: "pay"}}
	start, call := datadriven.TestData{Cmd: "start", Input: "Pay."}, datadriven.TestData{Cmd: "reply", Input: "pay {}"}
	own := With{Config: loop.Config{Tools: set}}

	require.NoError(t, tell(begun(t, own), start, call))
	assert.Equal(t, 1, ran, "without outcomes it is the program's own")
	rounds := datadriven.TestData{
		Cmd: "rounds", CmdArgs: []datadriven.CmdArg{{Key: "1"}}, Input: `pay {} => result "scripted"`,
	}
	require.NoError(t, tell(begun(t, own), start, rounds))
	assert.Equal(t, 1, ran, "a round has its outcomes in its lines")
	err = tell(begun(t, own), start, rounds, call)
	require.ErrorContains(t, err, "the outcomes of pay are used up (the last stand at pay.txt:2)")
	assert.Equal(t, 1, ran)
	once := datadriven.TestData{Cmd: "outcome", CmdArgs: arg, Input: `result "scripted"`}
	err = tell(begun(t, own), once, start, call, call)
	require.EqualError(t, err, `the outcomes of pay are used up (the last stand at pay.txt:1), and it does not run by itself: `+
		`give it another, or the outcome "itself" to let it run once`)
	assert.Equal(t, 1, ran)
	then := datadriven.TestData{Cmd: "outcome", CmdArgs: arg, Input: "result \"scripted\"\nitself"}
	require.NoError(t, tell(begun(t, own), then, start, call, call))
	assert.Equal(t, 2, ran)
}

// An outcome of a misspelt tool would never be noticed.
func TestAnOutcomeThatNobodyUsesIsAMistake(t *testing.T) {
	sc := begun(t)
	require.NoError(t, sc.unused())
	require.NoError(t, sc.perform(&datadriven.TestData{
		Cmd: "outcome", CmdArgs: []datadriven.CmdArg{{Key: "bok_room"}}, Input: "result 1", Pos: "story.txt:7",
	}))
	assert.EqualError(t, sc.unused(), "story.txt:7: an outcome of bok_room is left over: no run of that tool used it")
	sc.next("bok_room")
	assert.NoError(t, sc.unused())
}

// The hint to rewrite a story is given only for a plain run of a story without mistakes.
func TestAFailureSaysWhatToDo(t *testing.T) {
	sc := begun(t)
	assert.Equal(t, hint, sc.parting())
	sc.mistaken = true
	assert.Empty(t, sc.parting())
	assert.Empty(t, begun(t, CrashEverywhere()).parting())
}

// A crash notices that the journal is not that of the run.
func TestACrashThatLosesSomethingIsNoticed(t *testing.T) {
	for name, tt := range map[string]struct {
		tamper func(*story)
		want   string
	}{
		"trace":   {func(sc *story) { sc.trace[1] = []byte(`{}`) }, "trace differs"},
		"missing": {func(sc *story) { sc.trace = sc.trace[:1] }, "trace differs"},
		"journal": {func(sc *story) {
			require.NoError(t, sc.journal.Close())
			log, err := sc.store.Open(t.Context(), sc.id)
			require.NoError(t, err)
			text := sc.store.Text(sc.id)
			require.NoError(t, log.Replace(t.Context(), int64(len(text)), bytes.Replace(text, []byte("Hello."), []byte("Goodby"), 1)))
			require.NoError(t, log.Close())
		}, "replaying: journal: line 2"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := begun(t)
			require.NoError(t, sc.perform(&datadriven.TestData{Cmd: "start", Input: "Hello."}))
			require.NoError(t, sc.perform(&datadriven.TestData{Cmd: "cancel"}))
			tt.tamper(sc)
			assert.ErrorContains(t, sc.perform(&datadriven.TestData{Cmd: "crash"}), tt.want)
		})
	}
}

// A fault of an option is reported before the story begins.
func TestAFaultyPolicyFileIsNamed(t *testing.T) {
	_, err := newStory(With{PolicyFile: "none.yaml"})
	assert.ErrorContains(t, err, "open none.yaml")
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(path, []byte("max_attempts: 0"), 0o600))
	_, err = newStory(With{PolicyFile: path})
	assert.ErrorContains(t, err, "policy.yaml:1:15: max_attempts: ")
}

// The option With changes nothing about the hint.
func TestAStoryWithToolsOfTheProgramCanBeRewritten(t *testing.T) {
	assert.Equal(t, hint, begun(t, With{}).parting())
	assert.Empty(t, begun(t, With{}, Telling(nil)).parting())
}
