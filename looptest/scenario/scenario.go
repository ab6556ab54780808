package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/retake-go/retake/policy"
)

// hint is the last line of a failing scenario.
const hint = `The story no longer ends as it is told. Run the test with -rewrite, read every line of the diff, and commit only
what you understand.`

// Option configures scenarios with a program's own tools and policies ([With]), or runs them in another way
// than plainly.
type Option interface{ apply(*story) error }

// way is another way to run scenarios. Their files are not rewritten.
type way func(*story)

func (w way) apply(sc *story) error {
	w(sc)
	sc.plain = false
	return nil
}

// CrashEverywhere simulates a crash after every event. The journal is replayed, its trace is compared with
// what the run did, and the run goes on from the journal alone. A scenario must come out the same.
func CrashEverywhere() Option { return way(func(sc *story) { sc.crashes = true }) }

// Run runs every scenario of a directory, the files *.txt, each as a subtest named after its file.
//
// A scenario is a story of one run, told in the format of github.com/cockroachdb/datadriven: a line with a
// verb, what belongs to it, a line "----", and below it what the loop did, one sentence for each effect.
// Nothing waits: time passes when the story says so, and begins at [looptest.Epoch]. The flag -rewrite writes
// down what came out instead of comparing it.
//
// Before the run:
//
//	policy              a policy file, as package policy/file reads it
//	tool NAME [keys]    its parameters: a JSON Schema, or "city: string; nights: integer 1..30; room:
//	                    single|double"; members are required unless marked "optional". keys: show the
//	                    idempotency keys of its runs. What it declares: read-only, idempotent,
//	                    identity=(ARGUMENT, …), polling=30s
//	agent NAME          a tool that is an agent, with the default policy: replies, answers and time are those
//	                    of its run while it lasts, and its lines begin with "NAME> ". tools=(TOOL, …): tools
//	                    of its own, declared above
//	output              the schema of the structured answer, in the same two forms
//	system, words       the template of the system prompt; the template of the words that correct the model
//	slice NAME state    declares a slice; "log" for one that only grows
//	reducer NAME on=EVENT slice=SLICE do=append|replace|clear|refuse|panic [take=MEMBER] [when=TEXT] [text=(WHY)]
//	ladder              a [planner.Ladder] is the planner: its models in the body, one to a line; ask=2h: how
//	                    long a person is asked where it would give up
//	start               begins a run with the body as prompt. seed=S, deadline=30s, session=ID (another id
//	                    begins another session), single=TOOL|answer (one action, no model), planner, prompts
//	                    (the user's code makes them), calls (calls are the answer, and none is run),
//	                    consult=(CLASS, …) (asks the planner before the policy), model=NAME (by which prices
//	                    know the model), unbounded (it cannot bound its replies), estimates (the user's code
//	                    estimates ten tokens for each message)
//
// What happens:
//
//	reply               the model's reply: lines "tool {…}" are native calls, the rest is its text. text: all
//	                    of it is text; finish=length, refusal=(WHY), tokens=(IN,OUT)
//	rounds N            the model makes the same calls N times, or until something else happens: lines "tool
//	                    {…} => OUTCOME", each a reply (together: all are one), with {n} for the number of the
//	                    round. every=10s: time passes before each reply. Waits end when they are due, and what
//	                    happens in every good round is not shown
//	outcome TOOL        what its next runs do: result JSON, emit EVENT JSON, progress JSON, "ask again:
//	                    POINTER RULE EXPECTED", "fail: TEXT", "error: TEXT", "fault: CLASS retry-after=2s",
//	                    "class: CLASS POINTER RULE EXPECTED" (a class of your own), "later: WHY after=2s" (it
//	                    did nothing and wants to be called again), "unknown" (nobody knows what it did), "no
//	                    answer"; without one, {"ok":true}. A tool of the program (With) that has outcomes does
//	                    not run once they are used up; "itself" lets it run once
//	fault CLASS         the model call or try fails: retry-after=2s, final (the server says that no retry
//	                    helps), the response's headers in the body; of the correction plane: tool=NAME, issues
//	                    in the body
//	try [ok]            what came of the try of a single action: ok, or the issues in the body; tokens=(IN,OUT)
//	abandon             the caller leaves the try without an outcome
//	prompted            the user's code made the system prompt in the body
//	later DURATION      time passes; a wait that is over by then ends when it is due
//	plan abort          the planner's answer; also follow, fallback, degrade and ask. model=M, delay=2s,
//	                    warning=(TEXT), policy=(KEY: VALUE, …), the prompt in the body
//	answer VERDICT      a person's answer: call=ID or question=ID, by=NAME, policy=(KEY: VALUE, …),
//	                    arguments=(JSON); the words, the changed arguments or the result in the body
//	say                 the user says what stands in the body: late (while the model is called), stop, reset,
//	                    by=NAME; id=ID (the same message again)
//	adjust              lays a policy over that of the run
//	dispatch EVENT      an event of the embedding program, its JSON in the body
//	cancel              the caller gives up
//	crash               the process dies: the journal is replayed from the beginning, and the run goes on from
//	                    it
//
// What there is to see:
//
//	state, attempts, feedback, slices
//	prompt [all]        what the model is asked since its last reply; all of it
//	session             the session, written to a snapshot and restored
//	envelope FORM       what the run came to as a document: result_envelope, agent_result, agent_response or
//	                    model_response
//
// Tools, reducers, a policy and a session of your own are an option: [With].
//
// An event that does not fit is answered "refused: …" and changes nothing. A verb or argument that does not
// exist, and an outcome that no run of its tool uses, fail the test with file and line.
func Run(t *testing.T, dir string, opts ...Option) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is no scenario *.txt in %s", dir)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) { runFile(t, path, opts...) })
	}
}

// runFile runs one scenario file. With options other than [With] the file is never rewritten.
func runFile(t *testing.T, path string, opts ...Option) {
	t.Helper()
	sc, err := newStory(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if last := sc.parting(); t.Failed() && last != "" {
			t.Log(last)
		}
	})
	if sc.plain {
		datadriven.RunTest(t, path, sc.tell)
	} else {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		datadriven.RunTestFromString(t, string(text), sc.tell)
	}
	if sc.lines == 0 {
		sc.mistaken = true
		t.Fatalf("%s: there is no story in it: begin one with start", path)
	}
	if err := sc.unused(); err != nil && !t.Failed() {
		sc.mistaken = true
		t.Fatal(err)
	}
	if sc.telling != nil {
		sc.telling(t, sc.sessions())
	}
}

// story is a scenario that is running.
type story struct {
	setup
	world
	run
	nesting
	crashes bool
	out     []string
	// plain is set if the story runs plainly, mistaken if a line has a mistake. lines counts the lines of the
	// story.
	plain, mistaken bool
	lines           int
	// telling gets the sessions at the end. with is added to the next step.
	telling func(*testing.T, []Told)
	told    []*Told
	with    Step
}

func newStory(opts ...Option) (*story, error) {
	sc := &story{setup: setup{policy: policy.DefaultSet()}, plain: true}
	for _, opt := range opts {
		if err := opt.apply(sc); err != nil {
			return nil, err
		}
	}
	return sc, nil
}

// parting returns the last line for a story that has failed.
func (sc *story) parting() string {
	if sc.mistaken || !sc.plain {
		return ""
	}
	return hint
}

func (sc *story) say(line string) { sc.out = append(sc.out, sc.label()+line) }

// tell runs one line of the story and returns what came of it.
func (sc *story) tell(t *testing.T, d *datadriven.TestData) string {
	sc.out = nil
	sc.lines++
	if err := sc.perform(d); err != nil {
		sc.mistaken = true
		d.Fatalf(t, "%v", err)
	}
	if len(sc.out) == 0 {
		sc.say("ok")
	}
	return strings.Join(sc.out, "\n")
}
