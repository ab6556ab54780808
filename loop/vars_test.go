package loop_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// A traveller has other names in JSON than in Go.
type traveller struct {
	Name  string    `json:"name"`
	Since time.Time `json:"since"`
	Stays int64     `json:"stays"`
	Beds  []string  `json:"beds"`
}

const aboutVars = `{{.Vars.city}} for {{.Vars.who.name}} ({{.Vars.who.stays}} stays since {{.Vars.who.since}}):` +
	`{{range .Vars.who.beds}} {{.}}{{end}}{{if index .Vars "vip"}} VIP{{end}} {{json .Vars.rates}}`

func varsOf(city string) map[string]any {
	return map[string]any{
		"city": city, "rates": map[string]float64{"b": 1.5, "a": 2}, "who": &traveller{
			Name: "Ada", Since: looptest.Epoch, Stays: 9_007_199_254_740_993, Beds: []string{"single", "double"},
		},
	}
}

// The templates read Vars by their JSON form: at each call, after a resume with others in the config, and in
// a replay.
func TestTemplatesReadTheVarsOfTheConfig(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), journal.Dir(dir), "s", journal.Settings{})
	require.NoError(t, err)
	suspended, suspend := context.WithCancelCause(t.Context())
	tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, struct {
		Sum int `json:"sum" validate:"required"`
	}) (string, error) {
		suspend(loop.ErrSuspended)
		return "paid", nil
	}))
	require.NoError(t, err)
	vars := varsOf("Lisbon")
	cfg := loop.Config{Tools: tools, Vars: vars, System: aboutVars, Feedback: "In {{.Vars.city}}:{{range issues}} {{.}}{{end}}"}
	require.NoError(t, cfg.Validate())
	first := looptest.NewModel(looptest.Call(call("pay", `{}`)), looptest.Call(call("pay", `{"sum": 3}`)))
	_, err = fixture.Run(suspended, first, fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Pay."}, cfg, loop.WithClock(looptest.NewClock()))
	require.ErrorIs(t, err, loop.ErrSuspended)
	vars["city"] = "Porto"

	second := looptest.NewModel(looptest.Say("Done."))
	_, err = fixture.Resume(t.Context(), second, fixture.In(newSessionNamed(t, "s"), j), cfg)
	require.NoError(t, err)
	const want = `Lisbon for Ada (9007199254740993 stays since 2030-01-01T00:00:00Z): single double {"a":2,"b":1.5}`
	for n, r := range append(first.Requests(), second.Requests()...) {
		assert.Equal(t, want, r.System, "call %d", n+1)
	}
	assert.Equal(t, "In Lisbon: sum: required, expected integer", lastOf(first.Requests()[1].Messages).Text)
	require.NoError(t, j.Close())
	text, err := os.ReadFile(filepath.Join(dir, journal.FileName("s")))
	require.NoError(t, err)
	report, err := journal.Replay(bytes.NewReader(text), nil)
	require.NoError(t, err)
	assert.EqualValues(t, 3, report.Prompts)
}

func lastOf(all []message.Message) message.Message { return all[len(all)-1] }

func TestVarsThatCannotBeReadAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  loop.Config
		want string
	}{
		"none":        {loop.Config{System: "a\n{{.Vars.city}}"}, "system: prompt template, line 2: there is no .Vars.city: no vars are set"},
		"another":     {loop.Config{System: `{{printf "%s" .Vars.town}}`, Vars: varsOf("x")}, "system: prompt template, line 1: there is no .Vars.town: the vars are city, rates, who"},
		"in feedback": {loop.Config{Feedback: "{{if $.Vars.city}}x{{end}}"}, "feedback: prompt template, line 1: there is no .Vars.city: no vars are set"},
		"in brackets": {loop.Config{System: "{{quote (print .Vars.city)}}"}, "there is no .Vars.city"},
		"no JSON":     {loop.Config{Vars: map[string]any{"now": func() {}, "to": make(chan int)}}, "vars.now: has no JSON form: "},
		"bytes":       {loop.Config{System: "{{.Vars.text}}", Vars: map[string]any{"text": "a\xffb"}}, ""},
		"guarded":     {loop.Config{System: `{{if index .Vars "city"}}{{.Vars.city}}{{end}}{{or .Attempt .Vars.city}}`}, ""},
		"elsewhere":   {loop.Config{System: `{{define "a"}}{{.Vars.city}}{{end}}{{with feedback}}{{.}}{{end}}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.cfg.Validate()
			if c.want == "" {
				require.NoError(t, err)
				_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Yes.")), nil, loop.Input{Prompt: "Well?"}, c.cfg)
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			model := looptest.NewModel(looptest.Say("Yes."))
			_, err = fixture.Run(t.Context(), model, nil, loop.Input{Prompt: "Well?"}, c.cfg)
			require.ErrorContains(t, err, c.want)
			assert.Empty(t, model.Requests(), "before any model is asked")
		})
	}
}

// A template for the feedback that fails is named once with its place. The model gets the default words.
func TestAFeedbackTemplateThatFailsIsNamed(t *testing.T) {
	model := looptest.NewModel(looptest.Call(call("none", `{}`)), looptest.Call(call("none", `{}`)), looptest.Say("Done."))
	cfg := loop.Config{Tools: twoTools(t), Feedback: "Wrong:\n{{.Vars.city.name}}", Vars: map[string]any{"city": map[string]any{}}}
	result, err := fixture.Run(t.Context(), model, nil, loop.Input{Prompt: "Go."}, cfg)
	require.NoError(t, err)
	assert.Equal(t, []string{"feedback: prompt template, line 2: .Vars.city.name cannot be rendered: there is no such field or key, " +
		"or a value cannot do what it asks for; the default words were used"}, result.Warnings)
	assert.Contains(t, model.Requests()[1].Last().Text, "there is no tool named none")
}
