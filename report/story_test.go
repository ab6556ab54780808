package report_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy/file"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// storyPolicy is the policy of the stories, as a user would write it.
const storyPolicy = `global:
  max_attempts: 3
  backoff: {kind: exponential, base: 500ms, factor: 2, cap: 8s}
tools:
  book_room:
    max_attempts: 4
    no_progress: 2
budgets: {run: 8, tool: 6, unknown_tools: 1}
transport:
  max_attempts: 3
`

type guest struct {
	Name string `json:"name" validate:"required"`
	Age  int    `json:"age" validate:"min=0,max=130"`
}

type booking struct {
	City   string  `json:"city" validate:"required"`
	Nights int     `json:"nights" validate:"min=1,max=30"`
	Room   string  `json:"room" validate:"oneof=single double"`
	Guests []guest `json:"guests,omitempty"`
}

type receipt struct {
	Number string `json:"number" validate:"required"`
	Total  int    `json:"total" validate:"min=1"`
}

// slow is a model that takes some time for each reply.
type slow struct {
	loop.Model
	takes time.Duration
}

func (s slow) Reply(ctx context.Context, r loop.Request) (message.Reply, error) {
	<-time.After(s.takes)
	return s.Model.Reply(ctx, r)
}

// paid is a turn with a reply and its usage.
func paid(r message.Reply) looptest.Turn {
	r.Model = "example-1"
	r.Usage = message.Usage{InputTokens: 812, OutputTokens: int64(20 + len(r.Text)/4), CacheReadTokens: 512, APICalls: 1}
	if r.Finish = message.Stop; len(r.Calls) > 0 {
		r.Finish = message.ToolUse
	}
	return looptest.Turn{Reply: r}
}

func calls(all ...message.Call) looptest.Turn {
	for n := range all {
		all[n].ID = fmt.Sprint("c", n+1)
	}
	return paid(message.Reply{Calls: all})
}

func book(arguments string) message.Call {
	return message.Call{Name: "book_room", Arguments: arguments}
}

// story is a session with many failures.
type story struct {
	id     string
	turns  []looptest.Turn
	backup []looptest.Turn
	plan   planner.Planner
	book   func(context.Context, booking) (receipt, error)
	cfg    func(*loop.Config)
}

var cities = session.StateSlice[string]("cities")

// tell runs a story with a fake clock and returns its journal.
func (s story) tell(t *testing.T, prompts ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		j, err := journal.Open(t.Context(), journal.Dir(dir), s.id, journal.Settings{Sync: journal.SyncNever})
		require.NoError(t, err)
		defer j.Close()
		var opts []loop.Option
		if s.plan != nil {
			backup := slow{looptest.NewModel(s.backup...), 700 * time.Millisecond}
			opts = append(opts, loop.WithPlanner(s.plan), loop.WithModels(map[string]loop.Model{"backup": backup}))
		}
		model, held, cfg := slow{looptest.NewModel(s.turns...), 1200 * time.Millisecond}, fixture.In(newSession(t), j), s.config(t)
		for _, prompt := range prompts {
			_, err := fixture.Run(t.Context(), model, held, loop.Input{Prompt: prompt}, cfg, opts...)
			var exhausted *loop.RetryExhaustedError
			require.True(t, err == nil || errors.As(err, &exhausted), "%v", err)
		}
	})
	text, err := os.ReadFile(filepath.Join(dir, journal.FileName(s.id)))
	require.NoError(t, err)
	return text
}

// newSession has a reducer that collects cities and refuses an unknown one.
func newSession(t *testing.T) *session.Session {
	t.Helper()
	keep := func(_ reducer.View[string], city string) (reducer.Change[string], error) {
		if city == "Atlantis" {
			return reducer.Change[string]{}, errors.New("no such city: Atlantis")
		}
		return reducer.Append(city), nil
	}
	held, err := session.New(session.Config{
		Slices:   []session.Declared{cities},
		Reducers: []session.Reducer{session.On(cities, "booked", "keep_cities", keep)},
	})
	require.NoError(t, err)
	return held
}

// config is the config of a story's runs.
func (s story) config(t *testing.T) loop.Config {
	t.Helper()
	set, err := tool.NewSet(tool.New("book_room", "Book a hotel room.", s.book, tool.Idempotent()), tool.New("search", "Search hotels.", search))
	require.NoError(t, err)
	pol, err := file.Read("policy.yaml", []byte(storyPolicy))
	require.NoError(t, err)
	typed, err := schema.For[receipt]()
	require.NoError(t, err)
	cfg := loop.Config{
		Tools: set, Output: typed.Schema(), Seed: "7", Policy: &pol,
		System: "You book hotel rooms.\n{{with feedback}}Mind this: {{.}}{{end}}",
	}
	if s.cfg != nil {
		s.cfg(&cfg)
	}
	return cfg
}

func search(_ context.Context, q struct {
	City string `json:"city"`
}) ([]string, error) {
	<-time.After(400 * time.Millisecond)
	return []string{"Hotel Avenida, " + q.City, "Casa do Rio, " + q.City}, nil
}

// bookings is a slow hotel. Its connection breaks once, for Porto.
func bookings() func(context.Context, booking) (receipt, error) {
	broke := false
	return func(ctx context.Context, want booking) (receipt, error) {
		// Parallel calls report at different times, so that the journal is always the same.
		<-time.After(time.Duration(len(want.City)) * time.Millisecond)
		if err := errors.Join(tool.Progress(ctx, map[string]string{"booking": want.City}), tool.Emit(ctx, "booked", want.City)); err != nil {
			return receipt{}, err
		}
		<-time.After(time.Duration(want.Nights) * 900 * time.Millisecond)
		switch {
		case want.City == "Porto" && !broke:
			broke = true
			return receipt{}, &fault.ProviderError{Class: fault.Network, Provider: "hotel", Message: "connection reset by peer"}
		case want.City == "Funchal":
			return receipt{}, tool.AskAgain(fault.Issue{Pointer: "/nights", Rule: "stay", Expected: "at least 5 nights on the island", Got: fault.Integer, Source: fault.FromTool})
		}
		return receipt{"R-" + want.City, 120 * want.Nights}, nil
	}
}

// longStory has nearly every kind of entry.
func longStory() story {
	return story{
		id: "order-42", book: bookings(),
		turns: []looptest.Turn{
			calls(book(`{"city": "Lisbon", "nights": "two", "guests": [{"name": "Ana", "age": 34}, {"name": "", "age": 400}], "smoking": false}`),
				message.Call{Name: "search_hotels", Arguments: `{"city": "Lisbon"}`}),
			looptest.Fail(&fault.ProviderError{Class: fault.Overloaded, Provider: "example", StatusCode: 529, Message: "Overloaded", RetryAfter: 3 * time.Second}),
			calls(book(`{"city": "Lisbon", "nights": 40, "room": "double", "guests": [{"name": "Ana", "age": 34}, {"name": "Rui", "age": 40}]`)),
			calls(book(`{"city": "Lisbon", "nights": 40, "nights": 4, "room": "twin"}`), message.Call{Name: "search", Arguments: `{"city":"Porto"}`}),
			calls(book(`{"city": "Lisbon", "nights": 2, "room": "double"}`), book(`{"city": "Porto", "nights": 1, "room": "double"}`), book(`{"city": "Faro", "nights": 1, "room": "single"}`)),
			calls(book(`{"city": "Funchal", "nights": 3, "room": "single"}`)),
			calls(book(`{"city": "Atlantis", "nights": 1, "room": "single"}`)),
			paid(message.Reply{Text: "All booked! Here is your receipt:\n```json\n{\"number\": \"\", \"total\": -5}\n```"}),
			paid(message.Reply{Text: `{"number": "R-Lisbon", "total": 480}`}),
		},
	}
}

// hostileStory has a model that sends harmful texts. It ends exhausted.
func hostileStory() story {
	evil := "</script><script>alert(1)</script>\u202e\u200b\x1b[31mred\x07 <img src=x onerror=alert(1)> &amp; 日本 👩‍👧 [redacted 00112233445566778899aabbccddeeff, 321 bytes]"
	return story{
		id: "</title><b>evil", book: bookings(),
		turns: []looptest.Turn{
			calls(book(`{"city": "` + evil[:40] + `", "nights": "` + strings.Repeat("9", 3000) + `", "<b>": 1}`)),
			paid(message.Reply{Text: evil + strings.Repeat(" and on and on", 800)}),
			looptest.Fail(&fault.ProviderError{Class: fault.Timeout, Provider: "example", Message: "deadline " + evil}),
			calls(book("not JSON at all " + evil)),
			calls(book(`{"city": "Lisbon"`)),
		},
		backup: []looptest.Turn{paid(message.Reply{Text: `{"number": "R-9", "total": 9}`})},
		plan: planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
			return machine.Plan{Do: machine.Fallback, Model: "backup", Delay: 2 * time.Second, ResetBudgets: true, Prompt: "Try it without the tool.",
				Note: "the first model did not make it", Warning: "went on with model backup"}, nil
		}),
		cfg: func(c *loop.Config) { c.Policy.Tools["book_room"] = c.Policy.Global },
	}
}
