package random

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// agentCase is an agent within a call of a tool: a run whose model makes one call after another, and then
// answers. What it does follows from what it was told, so it is the same after a crash.
type agentCase struct {
	// Digs are the outcomes of its calls. Declared says what they are.
	Digs     []outcome
	Declared tool.Declared
	// MaxTurns is how many replies it has.
	MaxTurns int
	// Within is the agent that the last call is; may be nil.
	Within *agentCase
}

// drawAgents makes some calls of tools agents. It has dice of its own, so that other cases stay as they
// are. The tool is then one whose calls may be made again, as tools that are agents are.
func (c *Case) drawAgents() {
	d := newDice(c.Seed ^ 0x6167656e7473)
	if c.Action != nil || c.Hangs || c.Cancels() || !d.one(3) {
		return
	}
	for t, o := range c.outcomes() {
		if !d.one(4) {
			o.Agent, t.Declared = drawAgent(d, 1), tool.DeclaredIdempotent
		}
	}
}

func drawAgent(d dice, depth int) *agentCase {
	a := &agentCase{MaxTurns: d.between(1, 4), Declared: pick(d, "", "", tool.DeclaredIdempotent, tool.DeclaredReadOnly)}
	for range d.between(1, 3) {
		o := outcome{Kind: pick(d, returns, returns, returns, fails, breaks, breaks, unknown, asksAgain), Text: pick(d, "one", "two words")}
		if o.Kind == breaks {
			o.Fault.Text = "connection reset"
		}
		o.Result = json.RawMessage(`"found"`)
		a.Digs = append(a.Digs, o)
	}
	if depth < 2 && d.one(3) {
		a.Within, a.Declared = drawAgent(d, depth+1), tool.DeclaredIdempotent
	}
	return a
}

// Nests reports whether calls of the run are agents.
func (c Case) Nests() bool { return c.NestsTools() || c.NestsCode() }

// NestsCode reports that functions of tools make runs within their calls ([loop.Loop.Within]). Only the
// drivers of package loop take these cases.
func (c Case) NestsCode() bool {
	for _, o := range c.outcomes() {
		if o.Agent != nil {
			return true
		}
	}
	return false
}

var errNoAgent = errors.New("the case has an agent that cannot be made")

// nest makes the run of an agent within a call. A run without an answer has failed for good.
func (w *World) nest(ctx context.Context, a *agentCase) (json.RawMessage, error) {
	set := policy.DefaultSet()
	set.MaxTurns = a.MaxTurns
	dig, err := w.digTool(a, a.Within)
	if err != nil {
		return nil, errors.Join(errNoAgent, err)
	}
	tools, err := tool.NewSet(dig)
	if err != nil {
		return nil, errors.Join(errNoAgent, err)
	}
	l, err := loop.New(w.digger(a, digs), loop.Config{Tools: tools, Policy: &set})
	if err != nil {
		return nil, errors.Join(errNoAgent, err)
	}
	r, err := l.Within(ctx, loop.Input{Prompt: "Dig."})
	if x, ok := errors.AsType[*loop.RetryExhaustedError](err); ok {
		return nil, tool.Fail("no answer: " + string(x.Reason))
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(r.Text)
}

// digTool is the tool of an agent. Its last call is the agent within, if there is one.
func (w *World) digTool(a, within *agentCase) (*tool.Tool, error) {
	parameters := []byte(`{"type":"object","properties":{"at":{"type":"integer"}},"required":["at"]}`)
	return tool.Raw("dig", "Digs.", parameters, func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
		return w.dig(ctx, a, within, arguments)
	}, declared(a.Declared)...)
}

// call is a call of an agent: the name of its tool, and the arguments with the place of the call.
type call struct{ tool, arguments string }

var digs = call{"dig", `{"at":%d}`}

func (w *World) digger(a *agentCase, last call) loop.Model {
	return loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		var told []string
		for _, m := range req.Messages {
			if m.Role == message.Tool {
				told = append(told, m.Text)
			}
		}
		used := message.Usage{InputTokens: 7, OutputTokens: 3, APICalls: 1}
		w.mu.Lock()
		w.usage = w.usage.Add(used)
		w.mu.Unlock()
		n := len(told)
		if n >= len(a.Digs) {
			text := fmt.Sprintf("%d holes: %s", n, strings.Join(told, "; "))
			return message.Reply{Text: text, Finish: message.Stop, Usage: used}, nil
		}
		next := digs
		if n == len(a.Digs)-1 {
			next = last
		}
		own := message.Call{ID: fmt.Sprint("d", n), Name: next.tool, Arguments: fmt.Sprintf(next.arguments, n)}
		return message.Reply{Calls: []message.Call{own}, Finish: message.ToolUse, Usage: used}, nil
	})
}

// dig is the tool of an agent.
func (w *World) dig(
	ctx context.Context, a, within *agentCase, arguments json.RawMessage,
) (json.RawMessage, error) {
	var args struct{ At int }
	if err := json.Unmarshal(arguments, &args); err != nil {
		return nil, err
	}
	if a.Declared == "" {
		_, _, transport := tool.Attempt(ctx)
		w.mu.Lock()
		w.dug[run{tool.SessionID(ctx) + " " + tool.IdempotencyKey(ctx), transport}]++
		w.mu.Unlock()
	}
	if within != nil && args.At == len(a.Digs)-1 {
		return w.nest(ctx, within)
	}
	return a.Digs[args.At].end("dig")
}

// agentsAt returns the lengths of the journals of agents at some point at which that of the session had
// length bytes; one follows from the seed.
func (w *World) agentsAt(length int) map[string]int {
	from, to := 0, len(w.written) // the writes that may have been the last
	for n, at := range w.written {
		switch {
		case at.session != w.Session.ID:
		case at.length <= length:
			from = n + 1
		default:
			to = min(to, n)
		}
	}
	if to = max(from, to); from == 0 || w.written[from-1].length < length {
		from = to // within a write: all that was written before it is there
	}
	to = from + int((w.Case.Seed+uint64(length))%uint64(to-from+1))
	all := map[string]int{}
	for _, at := range w.written[:to] {
		if at.session != w.Session.ID {
			all[at.session] = at.length
		}
	}
	return all
}

// crashAgents takes the journals of agents over into a world after a crash.
func (w *World) crashAgents(again *World, length int) error {
	ctx := context.Background()
	for id, length := range w.agentsAt(length) {
		text := w.Store.Text(id)
		whole, err := w.read(id, text)
		if err != nil {
			return err
		}
		text = text[:length]
		done, err := w.read(id, text)
		if err != nil {
			return err
		}
		again.usage = again.usage.Add(done.usage)
		again.InDoubt = again.InDoubt || done.inDoubt(&whole)
		for r, n := range done.begun {
			again.begun[run{id + " " + r.Key, r.Transport}] += n
		}
		log, err := again.Store.Open(ctx, id)
		if err == nil {
			err = errors.Join(log.Append(ctx, 0, text, false), log.Close())
		}
		if err != nil {
			return err
		}
		again.written = append(again.written, written{id, length})
	}
	return nil
}
