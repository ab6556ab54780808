//go:build temporal

package temporal_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"

	"github.com/retake-go/retake/adapter/temporal"
)

// question is a line of a corpus: see retake run -h.
type question struct {
	ID       string          `json:"id"`
	Question json.RawMessage `json:"question"`
	Tools    []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"tools"`
	Replies []struct {
		Text  string         `json:"text"`
		Calls []message.Call `json:"tool_calls"`
	} `json:"replies"`
	Ladder []int `json:"ladder"`
}

// corpus reads the first usable questions, repeated until there are enough.
func corpus(path string, sessions int) ([]question, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []question
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() && len(all) < sessions {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, err
		}
		if _, err := q.tools(nil); err == nil && len(q.script()) > 0 {
			all = append(all, q)
		}
	}
	for own, n := len(all), 0; own > 0 && len(all) < sessions; n++ {
		again := all[n%own]
		again.ID = fmt.Sprintf("%s-%d", again.ID, len(all))
		all = append(all, again)
	}
	return all, lines.Err()
}

// agent is the name of the question's agent.
func (q question) agent() string {
	return "q." + strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n/", r) {
			return '_'
		}
		return r
	}, q.ID)
}

func (q question) prompt() string {
	var text string
	if json.Unmarshal(q.Question, &text) == nil {
		return text
	}
	return string(q.Question)
}

// script has the model's answers in order.
func (q question) script() []int {
	if len(q.Ladder) > 0 {
		return q.Ladder
	}
	script := make([]int, len(q.Replies))
	for n := range script {
		script[n] = n
	}
	return script
}

// declared are the declarations of the question's tools. Every other question has none.
func (q question) declared() []tool.Option {
	sum := 0
	for _, b := range []byte(q.ID) {
		sum += int(b)
	}
	if sum%2 == 0 {
		return nil
	}
	return []tool.Option{tool.Idempotent()}
}

// tools are the offered tools; each call first calls begun.
func (q question) tools(begun func(context.Context, string)) (*tool.Set, error) {
	var all []*tool.Tool
	for _, spec := range q.Tools {
		t, err := tool.Raw(spec.Name, spec.Description, spec.Parameters, func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			if begun != nil {
				begun(ctx, "tool")
			}
			return json.Marshal(map[string]any{"key": tool.IdempotencyKey(ctx), "bytes": len(args)})
		}, q.declared()...)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return tool.NewSet(all...)
}

// Reply depends on how often the model replied before, so a worker that takes over replies like the dead
// one.
func (q question) reply(req loop.Request) message.Reply {
	spoke, done := 0, false
	for _, m := range req.Messages {
		if m.Role == message.Assistant {
			spoke++
		}
		done = done || (m.Role == message.Tool && !m.IsError) || strings.HasPrefix(m.Text, "Result of ")
	}
	script := q.script()
	if done || spoke >= len(script) {
		return message.Reply{Text: "Done.", Finish: message.Stop, Usage: message.Usage{InputTokens: 7, OutputTokens: 2, APICalls: 1}}
	}
	from := q.Replies[script[spoke]]
	reply := message.Reply{Text: from.Text, Finish: message.Stop, Usage: message.Usage{InputTokens: 70, OutputTokens: 20, APICalls: 1}}
	for n, c := range from.Calls {
		reply.Calls = append(reply.Calls, message.Call{ID: fmt.Sprintf("call-%d-%d", spoke, n), Name: c.Name, Arguments: c.Arguments})
		reply.Finish = message.ToolUse
	}
	return reply
}

// worker executes the question's runs.
func (q question) worker(begun func(context.Context, string), observers ...observe.Observer) (temporal.Worker, error) {
	tools, err := q.tools(begun)
	return temporal.Worker{
		Agent: q.agent(), Tools: tools, Observers: observers, Heartbeat: 2 * time.Second, Deaths: 50,
		Model: loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
			if begun != nil {
				begun(ctx, "model")
			}
			return q.reply(req), ctx.Err()
		}),
	}, err
}

// held is the policy of all runs: a correction after a second, with jitter.
func held() loop.Config {
	set := policy.DefaultSet()
	wait := backoff.Constant(2 * time.Second)
	wait.Jitter = backoff.Jitter{Kind: backoff.Equal}
	set.Global.Backoff = &wait
	return loop.Config{Policy: &set, Seed: "kill"}
}

// inProcess is the canonical trace of an undisturbed run in process.
func (q question) inProcess(ctx context.Context, cfg loop.Config) (string, error) {
	store, err := os.MkdirTemp("", "retake")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(store)
	j, err := journal.Open(ctx, journal.Dir(store), q.ID, journal.Settings{})
	if err != nil {
		return "", err
	}
	s, err := session.New(session.Config{Journal: j})
	if err != nil {
		return "", err
	}
	w, err := q.worker(nil)
	if err != nil {
		return "", err
	}
	cfg.Tools = w.Tools
	l, err := loop.New(w.Model, cfg, loop.WithClock(looptest.NewClock()))
	if err != nil {
		return "", err
	}
	_, err = l.Run(ctx, s, loop.Input{Prompt: q.prompt()})
	if _, exhausted := err.(*loop.RetryExhaustedError); err != nil && !exhausted {
		return "", err
	}
	if err := j.Close(); err != nil {
		return "", err
	}
	log, err := journal.Dir(store).Open(ctx, q.ID)
	if err != nil {
		return "", err
	}
	defer log.Close()
	in, err := log.Read(ctx)
	if err != nil {
		return "", err
	}
	defer in.Close()
	var out bytes.Buffer
	err = journal.Trace(in, &out)
	return out.String(), err
}
