package random

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// World plays a case to one engine: it has the models, the tools and all other code of the user. It lasts
// longer than a process that crashes, and remembers what was done. Make one for each run with [NewWorld]. It
// is safe for concurrent use; its fields are read-only, but for Observer and Limiter.
type World struct {
	Case Case
	// Model is the first model, and Models are those by name. They share the replies of the case.
	Model  loop.Model
	Models map[string]loop.Model
	// Config has the tools, and the schema of the answer. Agents are those of its tools that are agents, and
	// Tools the others, for engines that make agents themselves.
	Config loop.Config
	Agents []Agent
	Tools  *tool.Set
	// Session declares the slices and reducers.
	Session session.Config
	// Planner, Prompt, Adjust, Stream and Summary are nil if the case has none.
	Planner planner.Planner
	Prompt  loop.PromptFunc
	Adjust  func(session.State) (policy.Layer, bool)
	Stream  func(loop.Delta)
	Summary loop.SummaryFunc
	// Observer hears the runs that are made with [World.Options]. It is nil, and may be set before the run.
	Observer observe.Observer
	// Limiter grants the calls of runs that are made with [World.Options]. It is nil, and may be set before
	// the run. [World.Trace] leaves grants out.
	Limiter *limiter.Limiter
	// Hear is told what the user says during the run. [World.Inputs] makes it the session's Say, unless it is
	// set before.
	Hear func(session.Words) error
	// Clock is the clock of the run.
	Clock *looptest.Clock
	// Store has the journal of the session.
	Store *looptest.Store
	// InDoubt reports that the process died while a call was made that must not be made again, or whose
	// second try fails, or that of a model which went on beyond the deadline: the run goes on otherwise than
	// without the crash. See [World.Crash].
	InDoubt bool

	// redacted reports that the journal is redacted; texts has what is left out of it.
	redacted bool
	texts    transcripts
	// records are those of the journals of the case.
	records *records

	mu     sync.Mutex
	cancel context.CancelFunc
	// replied is the number of replies and tries so far.
	replied int
	asked   []string
	// steps are the steps so far, and said is the number of messages after the last one.
	steps []step
	said  int
	// compacted is what journals had before they were compacted, by their sessions.
	compacted map[string]recorded
	// crashed reports that the world goes on after a crash.
	crashed bool
	// runs counts how often each call of a tool was begun.
	runs map[run]int
	// dug counts the calls of undeclared tools of agents, and written are the writes of journals.
	dug     map[run]int
	written []written
	// begun is what the journals say of calls that began before a crash.
	begun map[run]int
	// usage is what the replies cost.
	usage message.Usage
	// spoken is how much of Case.Says was said, and items are what was put into the inbox.
	spoken int
	items  []itemPut
	// heard is which message was said where: see [World.saidAt].
	heard map[string]int
	// ends are the ends of the runs so far. replays reports that the steps are those of a journal.
	ends    []ending
	replays bool
}

// NewWorld returns a world that plays the case from its beginning.
func NewWorld(c Case) (*World, error) {
	w := &World{
		Case: c, Config: c.Config, Clock: looptest.NewClock(), Store: &looptest.Store{},
		runs: map[run]int{}, begun: map[run]int{}, dug: map[run]int{}, heard: map[string]int{},
		records: newRecords(),
	}
	w.Clock.Patience = time.Hour // nothing hangs here, however slow the machine is
	w.Model = loop.ModelFunc(w.reply)
	for _, name := range c.Models {
		if w.Models == nil {
			w.Models = map[string]loop.Model{}
		}
		w.Models[name] = w.Model
	}
	w.Session = w.session()
	if len(c.Plans) > 0 {
		w.Planner = planner.PlannerFunc(w.plan)
	}
	if c.Prompts {
		w.Prompt = prompt
	}
	if c.Adjust != nil {
		w.Adjust = c.Adjust.layer
	}
	if c.Summaries {
		w.Summary = w.summary
	}
	if c.Stream {
		w.Stream = func(loop.Delta) {}
	}
	var err error
	if len(c.Output) > 0 {
		if w.Config.Output, err = schema.Compile(c.Output); err != nil {
			return nil, err
		}
	}
	if w.Tools, err = w.tools(); err == nil {
		w.Agents, err = w.agentsOf()
	}
	if err == nil {
		w.Config.Tools, err = withAgents(w.Tools, w.Agents)
	}
	return w, err
}

// Context returns the context of the run, which is cancelled where the case says. [Check] gives it to
// drivers.
func (w *World) Context(parent context.Context) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx, cancel := context.WithCancel(parent)
	w.cancel = cancel
	return ctx
}

// cancelled cancels the run and returns the error of ctx, which ends with it.
func (w *World) cancelled(ctx context.Context) error {
	w.mu.Lock()
	cancel := w.cancel
	w.mu.Unlock()
	if cancel == nil {
		return errors.New("the case cancels the run: give the engine World.Context")
	}
	cancel()
	<-ctx.Done()
	return ctx.Err()
}

// hang waits for the end of ctx, if the call has a time limit, and returns its error.
func (w *World) hang(ctx context.Context) error {
	if !w.Clock.Expire() {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// Options are the options of a run.
func (w *World) Options() []loop.Option {
	opts := []loop.Option{
		loop.WithClock(w.Clock), loop.WithParallel(max(w.Case.Parallel, 1)), loop.WithModels(w.Models),
		loop.WithPlanner(w.Planner), loop.WithPrompt(w.Prompt), loop.WithAdjust(w.Adjust), loop.WithStream(w.Stream),
		loop.WithSummary(w.Summary), loop.WithLimiter(w.Limiter),
	}
	if len(w.Case.Answers) > 0 {
		opts = append(opts, loop.WithApprover(w.approve))
	}
	if w.Observer != nil {
		opts = append(opts, loop.WithObserver(w.Observer))
	}
	return opts
}

// Inputs yields what the runs of the session are given, to be made one after the other: Case.Input, and those
// that go on with its conversation. Each of several has a RequestID of its own. Give the end of each to
// [World.Ended]. Calls that are its answer get results in the session before the next one.
func (w *World) Inputs(s *session.Session) iter.Seq[loop.Input] {
	return func(yield func(loop.Input) bool) {
		if w.Hear == nil {
			w.Hear = s.Say
		}
		if !yield(w.Case.Input) {
			return
		}
		for n, prompt := range w.Case.Follows {
			if err := w.answer(s); err != nil {
				w.Ended(loop.Result{}, err)
				return
			}
			in := w.Case.Input
			in.Prompt, in.History, in.RequestID = prompt, nil, fmt.Sprintf("request-%d", n+2)
			if !yield(in) {
				return
			}
		}
	}
}

// answer hands over the results of the calls that the last run left. The recorded end of an earlier run has
// no transcript, and its calls have their results.
func (w *World) answer(s *session.Session) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ends) == 0 || w.ends[len(w.ends)-1].Transcript == nil {
		return nil
	}
	var results []message.Message
	for n, c := range w.ends[len(w.ends)-1].Calls {
		results = append(results, message.Message{Role: message.Tool, CallID: c.ID, Name: c.Tool,
			Text: "done: " + resultSecret, IsError: n%2 == 1})
	}
	return s.Answer(results...)
}

// Redact makes the journal of the world leave out what the case says.
func (w *World) Redact() { w.redacted = true }

// Begin opens the journal of the run, and makes the session with it.
func (w *World) Begin(ctx context.Context) (*session.Session, *journal.Journal, error) {
	j, err := w.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := session.New(w.recorded(j))
	return s, j, err
}

// recorded returns the config of the session with its journal.
func (w *World) recorded(j *journal.Journal) session.Config {
	of := w.Session
	of.Journal = j
	return of
}

// Open opens the journal of the session.
func (w *World) Open(ctx context.Context) (*journal.Journal, error) {
	settings := journal.Settings{Sync: journal.SyncNever}
	if w.redacted {
		rules := loop.Redact(w.Case.Redact, w.Config)
		rules.Transcripts = &w.texts
		settings.Redact = &rules
	}
	return journal.Open(ctx, &clockedStore{w.Store, w}, w.Session.ID, settings)
}

// reply returns the next reply of the case.
func (w *World) reply(ctx context.Context, req loop.Request) (message.Reply, error) {
	if err := ctx.Err(); err != nil {
		return message.Reply{}, err
	}
	asked, err := promptText(req)
	if err != nil {
		return message.Reply{}, err
	}
	if err := w.speak(ctx, ""); err != nil {
		return message.Reply{}, err
	}
	w.mu.Lock()
	r := replyCase{Reply: w.goodReply()}
	if w.replied < len(w.Case.Replies) {
		r = w.Case.Replies[w.replied]
	}
	w.replied, w.asked = w.replied+1, append(w.asked, asked)
	w.mu.Unlock()
	switch {
	case r.Cancels:
		return message.Reply{}, w.cancelled(ctx)
	case r.Hangs:
		if err := w.hang(ctx); err != nil {
			return message.Reply{}, err
		}
	}
	w.mu.Lock()
	err = r.Fault.Err()
	if err == nil {
		w.usage = w.usage.Add(r.Usage)
	}
	w.mu.Unlock()
	if req.Stream != nil && r.Text != "" {
		half := len(r.Text) / 2
		for _, piece := range []string{r.Text[:half], r.Text[half:]} {
			req.Stream(loop.Delta{Call: -1, Text: piece})
		}
	}
	if err != nil {
		return message.Reply{}, err
	}
	r.Calls = slices.Clone(r.Calls)
	return r.Reply, nil
}

// goodReply is the reply of a model that has no other.
func (w *World) goodReply() message.Reply {
	switch c := &w.Case; {
	case c.Config.CallsOnly:
		call := message.Call{ID: "last", Name: c.Tools[0].Name, Arguments: `{"do":0}`}
		return message.Reply{Finish: message.ToolUse, Calls: []message.Call{call}}
	case len(c.Output) > 0:
		return message.Reply{Finish: message.Stop, Text: `{"total":4}`}
	}
	return message.Reply{Finish: message.Stop, Text: "The end."}
}

// promptText is what a model is asked, in a form that is the same in each engine.
func promptText(req loop.Request) (string, error) {
	asked := struct {
		Session     string             `json:"session"`
		System      string             `json:"system,omitempty"`
		Messages    []message.Message  `json:"messages"`
		Tools       []string           `json:"tools,omitempty"`
		Output      json.RawMessage    `json:"output,omitempty"`
		Model       string             `json:"model,omitempty"`
		Temperature *float64           `json:"temperature,omitempty"`
		At          []machine.Position `json:"at,omitempty"`
		ToolChoice  message.ToolChoice `json:"tool_choice,omitempty"`
		Stop        []string           `json:"stop,omitempty"`
	}{
		Session: req.Session, System: req.System, Messages: req.Messages, Model: req.Model,
		Temperature: req.Temperature, At: req.At,
		ToolChoice: req.ToolChoice, Stop: req.Stop,
	}
	for _, t := range req.Tools {
		asked.Tools = append(asked.Tools, t.Name())
	}
	if req.Output != nil {
		asked.Output = req.Output.JSON()
	}
	text, err := canon.Marshal(asked)
	return string(text), err
}

// Try makes the next try of the action of the case.
func (w *World) Try(ctx context.Context, _ loop.Attempt) (json.RawMessage, error) {
	w.mu.Lock()
	o := outcome{Kind: returns, Result: json.RawMessage(`{"ok":true}`)}
	if w.replied < len(w.Case.Tries) {
		o = w.Case.Tries[w.replied]
	}
	w.replied++
	w.mu.Unlock()
	switch o.Kind {
	case cancels:
		return nil, w.cancelled(ctx)
	case returns:
		return o.Result, nil
	case asksAgain:
		expected := "other than " + o.Text
		issues := []fault.Issue{{Pointer: "/do", Rule: "tool", Expected: expected, Source: fault.FromTool}}
		if w.Case.Action.Tool == machine.AnswerAction {
			return nil, &fault.StructuredOutputError{Issues: issues}
		}
		return nil, &fault.ToolValidationError{Tool: w.Case.Action.Tool, Issues: issues}
	}
	return nil, o.Fault.Err()
}

// patience is the number of attempts in a session after which the planner ends the run.
const patience = 40

// plan answers by the number of attempts in the session, so the answer is the same after a crash.
func (w *World) plan(ctx context.Context, q planner.Question) (machine.Plan, error) {
	attempts := q.Session.AttemptCount()
	if attempts > patience {
		return machine.Plan{Do: machine.Abort}, nil
	}
	p := w.Case.Plans[attempts%len(w.Case.Plans)]
	if p.Err != "" {
		return machine.Plan{}, errors.New(p.Err)
	}
	if p.Cancels {
		return machine.Plan{}, w.cancelled(ctx)
	}
	return p.Plan, nil
}

// layer is the change of the policy that a session calls for.
func (a *adjustCase) layer(s session.State) (policy.Layer, bool) {
	return a.Layer, s.AttemptCount() >= a.Attempts
}

// summary sums messages up, or fails, by their number.
func (w *World) summary(_ context.Context, said []message.Message) (string, message.Usage, error) {
	used := message.Usage{InputTokens: int64(len(said)), OutputTokens: 1, APICalls: 1}
	w.mu.Lock()
	w.usage = w.usage.Add(used)
	w.mu.Unlock()
	if len(said)%3 == 0 {
		return "", used, errors.New("no summary")
	}
	return fmt.Sprintf("%d messages were exchanged.", len(said)), used, nil
}

// prompt makes a prompt of the number of attempts.
func prompt(
	_ context.Context, view session.State, at []machine.Position,
) (string, []message.Message, error) {
	attempts := view.AttemptCount()
	system := fmt.Sprintf("%d attempts, %d positions", attempts, len(at))
	if attempts%3 == 1 {
		return system, []message.Message{{Role: message.User, Text: "Hurry."}}, nil
	}
	return system, nil, nil
}
