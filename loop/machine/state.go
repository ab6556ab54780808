package machine

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Phase is what a state waits for.
type Phase string

// The phases.
const (
	Idle      Phase = "idle"
	Prompting Phase = "prompting"
	Calling   Phase = "calling"
	Running   Phase = "running"
	// Estimating waits for the estimate of the next model call.
	Estimating Phase = "estimating"
	Trying     Phase = "trying"
	Waiting    Phase = "waiting"
	Planning   Phase = "planning"
	Reducing   Phase = "reducing"
	Stopped    Phase = "stopped"
	// Asking waits for a person's answer.
	Asking Phase = "asking"
	// Shortening waits for a shorter prompt.
	Shortening Phase = "shortening"
	// Summarising waits for a summary of older messages.
	Summarising Phase = "summarising"
	// Queueing waits for the limiter.
	Queueing Phase = "queueing"
)

// following is what comes after a wait or a plan. The zero value means nothing.
type following string

const (
	thenTurn  following = "turn"  // a new model call
	thenCall  following = "call"  // the same model call again
	thenTools following = "tools" // the calls of the batch that were not run yet
	thenTry   following = "try"   // the next try of the single action
)

// action is one line of attempts of the correction plane: the final answer, or one tool within a run.
type action struct {
	Name string `json:"name"`
	// Number is unique in the session.
	Number int `json:"number"`
	// Attempt is the number of the last attempt.
	Attempt int `json:"attempt"`
	// Waited is the sum of its waits so far.
	Waited time.Duration `json:"waited_ns,omitempty"`
	// Signature identifies the last failure, if the policy has no_progress on. Repeats is how many times in a
	// row it had been seen before.
	Signature string `json:"signature,omitempty"`
	Repeats   int    `json:"repeats,omitempty"`
	// Unknown reports that its last call was of a tool that is not offered.
	Unknown bool `json:"unknown,omitempty"`
	// Last is its latest feedback. Over reports that an outcome came since, so that the feedback is no longer
	// shown.
	Last *feedback.RetryFeedback `json:"last,omitempty"`
	Over bool                    `json:"over,omitempty"`
	// Asked is the last progress of each call that asked again since the last call of the tool began, in call
	// order; an empty text for none.
	Asked []string `json:"asked,omitempty"`
	// Charged is what the calls that made its attempts cost.
	Charged policy.Charge `json:"charged,omitzero"`
}

// failedCounts counts the failed attempts of a run that its budgets bound.
type failedCounts struct {
	Run     int          `json:"run"`
	Unknown int          `json:"unknown_tools"`
	Tools   []toolFailed `json:"tools,omitempty"`
}

// toolFailed counts the failed attempts of one tool.
type toolFailed struct {
	Tool   string `json:"tool"`
	Failed int    `json:"failed"`
}

func (f *failedCounts) tool(name string) int {
	if at, there := f.index(name); there {
		return f.Tools[at].Failed
	}
	return 0
}

// index returns the index of a tool, or where it would be inserted.
func (f *failedCounts) index(tool string) (at int, there bool) {
	return slices.BinarySearchFunc(f.Tools, tool,
		func(t toolFailed, name string) int { return strings.Compare(t.Tool, name) })
}

// State is the state of a run. It is a value; an older State stays valid when the run goes on. All of it is
// data but the compiled templates. It is safe for concurrent reading.
type State struct {
	// Config is read-only and shared by all states of a run.
	Config  *Config       `json:"config,omitempty"`
	Phase   Phase         `json:"phase"`
	Session session.State `json:"session"`
	// At is the time of the last event.
	At time.Time `json:"at,omitzero"`
	// Run numbers the runs of the session from 1, and Turn the replies of the run. First is the number of
	// attempts in the session before this run. Began is the number of messages when the run began, including
	// its prompt.
	Run   int `json:"run"`
	First int `json:"first,omitempty"`
	Began int `json:"began,omitempty"`
	Turn  int `json:"turn"`
	// Policy is the run's policy with its adjustments. It is read-only.
	Policy *policy.Set `json:"policy,omitempty"`
	// Model is the name of the current model; empty for the first.
	Model string `json:"model,omitempty"`
	// System is the prompt that the user's code made for the next call.
	System string `json:"system,omitempty"`
	// Actions are the open actions, in order of Number. Opened counts all that were ever opened.
	Actions []action `json:"actions,omitempty"`
	Opened  int      `json:"opened"`
	// Failed counts the failed attempts of the run.
	Failed failedCounts `json:"spent"`
	Batch  *Batch       `json:"batch,omitempty"`
	// Spoken are the ids of all that the user has said.
	Spoken []string `json:"spoken,omitempty"`
	// Notices are the events that the reducers have yet to handle.
	Notices []Notice `json:"notices,omitempty"`
	// Charged is what the run's calls cost, if its policy has prices or spending.
	Charged policy.Charge `json:"charged,omitzero"`
	// Owed is what is in no attempt record yet: the reported usage, and the part of Charged.
	Owed policy.Charge `json:"owed,omitzero"`
	// Wasted is what the failed attempts of the run consumed.
	Wasted policy.Charge `json:"wasted,omitzero"`
	// Prompt is the last prompt whose size is known.
	Prompt *promptSize `json:"prompt,omitempty"`

	Usage    message.Usage `json:"usage,omitzero"`
	Waited   time.Duration `json:"waited_ns,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
	Outcome  *Outcome      `json:"outcome,omitempty"`

	// Cuts are what prompts leave out of the transcript; see package projection.
	Cuts []projection.Cut `json:"cuts,omitempty"`

	inner inner

	transcript seq.Log[message.Message]
	// turns are the replies of the transcript.
	turns seq.Log[projection.Turn]
	// failures are the calls of the run that failed, and doubts those that ended without saying whether they
	// had an effect, in the order of their ends. given are the answers to earlier questions of the run.
	failures seq.Log[ToolFailure]
	doubts   seq.Log[doubt]
	given    seq.Log[Given]
	// recent are the last calls of the run that have answers, for the search of cycles. shownCalls are the
	// last of them that were repeated, as they are shown.
	recent     seq.Window[finishedCall]
	shownCalls seq.Window[CycleCall]
	compiled   *compiled
	// asked is the digest of what was said last when the run began.
	asked [sha256.Size]byte
	// policies are the merged policies of Policy.
	policies *policies
}

// inner are the fields of a [State] that only the machine reads. In a snapshot they stand beside the others.
type inner struct {
	// Next is what follows a wait or a plan.
	Next following `json:"next,omitempty"`
	// Transport is the attempt of the current request on the transport plane, and TransportWaited the sum of
	// its waits.
	Transport       int           `json:"transport,omitempty"`
	TransportWaited time.Duration `json:"transport_waited_ns,omitempty"`
	// Anew counts the requests of the run that were made again although the policy made them no more.
	Anew int `json:"anew,omitempty"`
	// Chosen reports that a call required by Config.ToolChoice has ended in this run; then none is required
	// any more.
	Chosen bool `json:"chosen,omitempty"`
	// InStep[p-1] is the number of last calls in a row that each equal the call p before it.
	InStep [maxPeriod]int `json:"in_step,omitzero"`
	// Nudge is the feedback on a cycle that the next reply has to answer, or nil.
	Nudge *feedback.RetryFeedback `json:"nudge,omitempty"`
	// Places count the calls of each tool under its caps: those that succeeded, began, or may have had their
	// effect. made are those with a result, of tools whose equal calls are not run.
	Places session.Counts `json:"places,omitempty"`
	made   seq.Log[madeCall]
	// Polls are the last polls, oldest first.
	Polls []poll `json:"polls,omitempty"`
	// CorrectionWait is the wait before the next turn, TransportWait that before the same request is made
	// again. A try waits for both.
	CorrectionWait *Wait `json:"correction_wait,omitempty"`
	TransportWait  *Wait `json:"transport_wait,omitempty"`
	// Consult is the failed model call or try that the planner is asked about before the policy is followed.
	Consult *Question `json:"consult,omitempty"`
	// Exhausted is the first exhaustion that was not handled yet.
	Exhausted *Question `json:"exhausted,omitempty"`
	// Questions are what people are asked, in call order.
	Questions []Ask `json:"questions,omitempty"`
	// Words are what the user has said and the model was not told yet.
	Words []session.Words `json:"words,omitempty"`
	// Hears are the notices with reducers.
	Hears []string `json:"hears,omitempty"`
	// Estimate is the user's estimate of what was added since Prompt, and Projection what the current call
	// may cost.
	Estimate   *estimate  `json:"estimate,omitempty"`
	Projection *projected `json:"projection,omitempty"`
	// Early is what failed calls cost before the first reply of an action, or nil. The next action pays for
	// them.
	Early *policy.Charge `json:"early,omitempty"`
	// Grant is the last grant of the limiter. Patient is set once the planner has said to wait for a provider
	// that is down.
	Grant   *Grant `json:"grant,omitempty"`
	Patient bool   `json:"patient,omitempty"`
	// Tight is the failure of a prompt that was too long. Shorten and Summary are what is waited for.
	Tight   *fault.Failure `json:"tight,omitempty"`
	Shorten *shortenRun    `json:"shorten,omitempty"`
	Summary *SummaryRun    `json:"summary,omitempty"`
	// Full is the turn in which nothing could be cut, 0 if something was cut since.
	Full int `json:"full,omitempty"`
}

// Seed returns the seed of the run's jitter: that of the config, else the session's id.
func (st *State) Seed() string {
	if st.Config != nil && st.Config.Seed != "" {
		return st.Config.Seed
	}
	return st.Session.ID()
}

// AsksAgain reports whether a run that is resumed in this state may call the model next. Then what was
// streamed of an earlier reply is not used.
func (st *State) AsksAgain() bool {
	return st.Phase == Calling || st.Phase == Planning || st.Phase == Waiting && st.inner.Next != thenTools
}

// Transcript returns the messages so far, oldest first. The slice is read-only.
func (st State) Transcript() []message.Message { return st.transcript.From(0) }

// TranscriptFrom returns what follows the first n messages of [State.Transcript]. It panics if there are
// fewer. The slice is read-only.
func (st State) TranscriptFrom(n int) []message.Message { return st.transcript.From(n) }

// TranscriptLen returns the length of [State.Transcript].
func (st State) TranscriptLen() int { return st.transcript.Len() }

// find returns the open action with the name, or nil.
func (st *State) find(name string) *action {
	for n := range st.Actions {
		if a := &st.Actions[n]; a.Name == name {
			return a
		}
	}
	return nil
}

// Exhaustion returns the exhaustion that is not handled yet or that ended the run, or nil.
func (st *State) Exhaustion() *Question {
	if st.inner.Exhausted != nil || st.Outcome == nil {
		return st.inner.Exhausted
	}
	return st.Outcome.Exhaustion
}

// Attempts returns the attempts of the current run, or of the last one, on both planes, oldest first. The
// slice is read-only.
func (st State) Attempts() []session.Attempt {
	return st.Session.AttemptsFrom(st.First)
}

// Left returns the part of asked, the last effect of a step, that later events have not answered: for tool
// calls, those without an outcome. A driver that takes over from another carries it out.
func (st State) Left(asked Effect) Effect {
	if asked.Kind == RunTools && st.Batch != nil {
		asked.Tools = slices.DeleteFunc(slices.Clone(asked.Tools),
			func(r ToolRun) bool { return r.Index < st.Batch.Cursor })
	}
	return asked
}

// Attempt returns the position of an open action of the correction plane. Attempt is 0 if the action is
// neither open nor under way.
func (st State) Attempt(action string) Position {
	switch a := st.find(action); {
	case a != nil:
		return st.position(action, a.Attempt)
	case st.Batch != nil && st.Batch.open(action): // a plan or a message has closed it
		return st.position(action, 1)
	}
	return st.position(action, 0)
}

func (st *State) position(action string, attempt int) Position {
	return Position{Action: action, Attempt: attempt, MaxAttempts: st.policyOf(action).MaxAttempts}
}

// Feedback returns the current feedback on an open action: the latest, unless another outcome came since. It
// returns nil if there is none.
func (st State) Feedback(action string) *feedback.RetryFeedback {
	if a := st.find(action); a != nil && !a.Over {
		return a.Last
	}
	return nil
}

// GoOn makes an idle state continue the conversation of another, so that Started only has the new messages.
// from does not change.
func (st *State) GoOn(from *State) {
	st.transcript, st.turns, st.Cuts = from.transcript, from.turns, from.Cuts
}

// Continue is GoOn for a conversation without its state. known is what is known of it; nil means nothing.
func (st *State) Continue(said []message.Message, known *projection.Kept) {
	if st.transcript = seq.Of(said...); known != nil {
		st.turns, st.Cuts = seq.Of(known.Turns...), known.Cuts
	}
}

// Kept returns what is known of the transcript besides its messages. It is read-only.
func (st State) Kept() projection.Kept {
	return projection.Kept{Turns: st.turns.From(0), Cuts: st.Cuts}
}

// Contents returns what the session has after the run.
func (st State) Contents() session.Contents {
	return session.Contents{State: st.Session, Conversation: st.Transcript(), Kept: st.Kept()}
}

// Forget drops what no later step reads: old messages, turns, attempts and errors of reducers. The model's
// last message and the last few stay, and all counts. Unless prompts may show it, the session's feedback
// goes, too. It is for code that folds many events and shows none of that. Idempotency keys do not change.
func (st *State) Forget(shows bool) {
	from, held := 0, st.transcript.Len()
	for n, m := range st.transcript.Backward() {
		if from = n; m.Role == message.Assistant && held-n >= requestMessages {
			break
		}
	}
	st.transcript, st.turns = st.transcript.Forget(from), st.turns.Forget(st.turns.Len())
	st.Session = st.Session.Forget(shows)
}
