package dbos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// The environment of a worker process: its database, where it hangs so that it can be killed there, the file
// of what its tools did, how many sessions it has, and which of the workers does them.
const (
	envWorker = "RETAKE_DBOS_WORKER"
	envHang   = "RETAKE_DBOS_HANG"
	envDone   = "RETAKE_DBOS_DONE"
	envCount  = "RETAKE_DBOS_SESSIONS"
	envAgent  = "RETAKE_DBOS_AGENT"
)

// workers are the agents of worker processes. Each has tables of its own, by its name.
var workers = map[string]func(pass func(string), did func(string)) Agent{
	"booking": booking, "desk": desk, "asking": approving, "talking": talking,
}

// hangs are the places where processes are killed, in this order: each nth time that one comes to it.
var hangs = []string{
	"1 model", "1 step run_tools", "1 pay before", "3 model", "1 pay after", "1 note after", "1 step wait",
	"1 step stop",
}

// desk is an agent whose own agent does all the work. It passes its places behind the word "desk".
func desk(pass func(string), did func(string)) Agent {
	own := booking(pass, did)
	own.Name = "book"
	ask := message.Call{ID: "1", Name: "book", Arguments: `{"task":"Book it."}`}
	return Agent{
		Agents: []AgentTool{{Agent: own, Description: "Books."}},
		Model: loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
			pass("desk model")
			if len(r.Messages) == 1 {
				return message.Reply{Calls: []message.Call{ask}}, nil
			}
			return message.Reply{Text: "Booked."}, nil
		}),
		hooks: hooks{step: func(_ machine.Event, effects []machine.Effect, _ machine.State) {
			if n := len(effects); n > 0 {
				pass("desk step " + string(effects[n-1].Kind))
			}
		}},
	}
}

// approving is booking, whose payments a person approves, and settles when they are in doubt.
func approving(pass func(string), did func(string)) Agent {
	a := booking(pass, did)
	a.Config.Policy.Tools = map[string]policy.Layer{
		"pay": {Approval: &policy.Approval{When: policy.ApproveAlways, InDoubt: policy.DoubtAsk}},
	}
	a.hooks.recv = func(ctx sdk.Context, topic string, patience time.Duration) (string, error) {
		pass("recv before")
		text, err := sdk.Recv[string](ctx, topic, patience)
		if err == nil {
			pass("recv after")
		}
		return text, err
	}
	return a
}

// talking is booking, to which a user speaks: it begins when it is told to, and goes on when it was spoken to
// again. Its last words say how many messages of the user it has.
func talking(pass func(string), did func(string)) Agent {
	a := booking(pass, did)
	a.hooks.read = func(letter) { pass("read") }
	var mu sync.Mutex
	spoken := map[string]chan bool{} // by session: closed by the second message
	second := func(id string) chan bool {
		mu.Lock()
		defer mu.Unlock()
		if spoken[id] == nil {
			spoken[id] = make(chan bool)
		}
		return spoken[id]
	}
	step := a.hooks.step
	a.hooks.step = func(ev machine.Event, effects []machine.Effect, st machine.State) {
		if ev.Kind == machine.Spoken {
			if len(st.Spoken) == 2 {
				close(second(st.Session.ID()))
			}
			pass("said")
		}
		step(ev, effects, st)
	}
	booked := a.Model
	a.Model = loop.ModelFunc(func(ctx context.Context, r loop.Request) (message.Reply, error) {
		reply, err := booked.Reply(ctx, r)
		users, spoke := 0, 0
		for _, m := range r.Messages {
			switch m.Role {
			case message.User:
				users++
			case message.Assistant:
				spoke++
			}
		}
		switch {
		case users == 1:
			<-ctx.Done()
		case spoke == 1:
			<-second(r.Session)
		case reply.Text != "":
			reply.Text = fmt.Sprintf("%d messages, Booked.", users)
		}
		return reply, err
	})
	return a
}

// places hang the goroutine that comes to one of them for the nth time.
type places struct {
	mu   sync.Mutex
	at   string
	left int
}

func (p *places) pass(place string) {
	p.mu.Lock()
	hangs := false
	if p.at == place {
		p.left--
		hangs = p.left == 0
	}
	p.mu.Unlock()
	if hangs {
		fmt.Println("hangs")
		select {}
	}
}

// booking is an agent: it gets a note and pays at once, is corrected, notes again, and answers.
func booking(pass func(string), did func(string)) Agent {
	type args struct {
		Amount int `json:"amount"`
	}
	act := func(name string) func(context.Context, args) (string, error) {
		return func(ctx context.Context, _ args) (string, error) {
			pass(name + " before")
			did(name + " " + tool.SessionID(ctx))
			pass(name + " after")
			return "done", nil
		}
	}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", act("pay")),
		tool.New("note", "Notes.", act("note"), tool.Idempotent()))
	if err != nil {
		panic(err)
	}
	call := func(id, name, args string) message.Call {
		return message.Call{ID: id, Name: name, Arguments: args}
	}
	script := []message.Reply{
		{Calls: []message.Call{call("1", "note", `{"amount":1}`), call("2", "pay", `{"amount":2}`)}},
		{Calls: []message.Call{call("3", "note", `{"amount":"x"}`)}},
		{Calls: []message.Call{call("4", "note", `{"amount":3}`)}},
		{Text: "Booked."},
	}
	set := policy.DefaultSet()
	wait := backoff.Constant(time.Millisecond)
	set.Global.Backoff = &wait
	return Agent{
		Config: loop.Config{Tools: tools, Policy: &set, Seed: "kill"},
		Model: loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
			pass("model")
			spoke := 0
			for _, m := range r.Messages {
				if m.Role == message.Assistant {
					spoke++
				}
			}
			return script[spoke], nil
		}),
		hooks: hooks{step: func(_ machine.Event, effects []machine.Effect, _ machine.State) {
			if n := len(effects); n > 0 {
				pass("step " + string(effects[n-1].Kind))
			}
		}},
	}
}

// work is a worker process. It starts or takes up all sessions, and prints how they ended.
func work(url string) error {
	p := &places{}
	_, _ = fmt.Sscanf(os.Getenv(envHang), "%d", &p.left)
	_, p.at, _ = strings.Cut(os.Getenv(envHang), " ")
	done, err := os.OpenFile(os.Getenv(envDone), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer done.Close()
	name := os.Getenv(envAgent)
	c, err := newContext(url, name+"kills")
	if err != nil {
		return err
	}
	agent, err := Register(c, workers[name](p.pass, func(what string) { fmt.Fprintln(done, what) }))
	if err != nil {
		return err
	}
	if err := sdk.Launch(c); err != nil {
		return err
	}
	count, err := strconv.Atoi(os.Getenv(envCount))
	if err != nil {
		return err
	}
	runs := make([]*Run, count)
	for n := range runs {
		if runs[n], err = agent.Start(c, fmt.Sprint("order-", n), loop.Input{Prompt: "Book it."}); err != nil {
			return err
		}
	}
	for n, r := range runs {
		result, err := r.Result()
		fmt.Println("ended", n, result.Text, err, result.InDoubt)
	}
	return nil
}

// Processes are killed between and in the steps of their runs. Each session ends, no payment is made twice,
// and one that is not made, or of which nobody knows, is in doubt.
func TestRunsOutliveKilledProcesses(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	isPaidOrInDoubt(t, outlives(t, "booking", done, hangs), paidIn(t, done), "")
}

// The same is so if an agent of the agent does the work, in a child workflow: the run around it goes on with
// that.
func TestAgentsOutliveKilledProcesses(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	own := []string{"1 desk model", "1 desk step run_tools", "2 desk model", "1 desk step stop"}
	isPaidOrInDoubt(t, outlives(t, "desk", done, append(own, hangs...)), paidIn(t, done), ".1.1.1")
}

func isPaidOrInDoubt(t *testing.T, ended []string, paid map[string]int, suffix string) {
	doubtful := 0
	for n, line := range ended {
		paid := paid[fmt.Sprintf("order-%d%s", n, suffix)]
		inDoubt := !strings.HasSuffix(line, "[]")
		assert.LessOrEqual(t, paid, 1, "order-%d is paid once", n)
		assert.True(t, paid == 1 || inDoubt, "order-%d is paid, or it is known that it may not be: %s", n, line)
		if inDoubt {
			doubtful++
		}
	}
	t.Logf("%d sessions, %d of them with a call in doubt", len(ended), doubtful)
	assert.Positive(t, doubtful)
}

// Processes are killed before and after a person is asked and has answered, and around what was approved. The
// person answers whether a process is there or not, looks at what was paid, and settles what is in doubt: so
// each session is paid exactly once, and none is in doubt.
func TestQuestionsOutliveKilledProcesses(t *testing.T) {
	c, err := newContext(database(t), "askingkills")
	require.NoError(t, err)
	defer func() { _ = sdk.Shutdown(c, 10*time.Second) }()
	done := filepath.Join(t.TempDir(), "done")
	places := []string{
		"1 step ask", "1 recv before", "1 recv after", "2 recv before", "2 step run_tools", "1 pay before", "1 pay after", "3 model",
		"1 step stop",
	}
	over, ctx := make(chan bool), t.Context()
	stopped := make(chan map[string]machine.AskKind)
	go func() {
		seen := map[string]machine.AskKind{}
		for n := 0; ; n = (n + 1) % len(places) {
			select {
			case <-over:
				stopped <- seen
				return
			case <-ctx.Done():
				return
			default:
				settle(t, c, fmt.Sprint("order-", n), done, seen)
			}
		}
	}()
	ended := outlives(t, "asking", done, places)
	close(over)
	seen := <-stopped
	paid := paidIn(t, done)
	for n, line := range ended {
		assert.True(t, strings.HasSuffix(line, "[]"), "order-%d is in no doubt: %s", n, line)
		assert.Equal(t, 1, paid[fmt.Sprint("order-", n)], "order-%d is paid once", n)
	}
	kinds := map[machine.AskKind]int{}
	for _, kind := range seen {
		kinds[kind]++
	}
	t.Logf("%d sessions, questions: %v", len(ended), kinds)
	assert.Equal(t, len(places), kinds[machine.AskApproval])
	assert.Positive(t, kinds[machine.AskDoubt])
}

// Processes are killed before and after a message is read and recorded, and around what it is about. The user
// says each again until it is taken: each is heard once.
func TestMessagesOutliveKilledProcesses(t *testing.T) {
	c, err := newContext(database(t), "talkingkills")
	require.NoError(t, err)
	defer func() { _ = sdk.Shutdown(c, 10*time.Second) }()
	done := filepath.Join(t.TempDir(), "done")
	places := []string{"1 model", "1 read", "1 said", "2 model", "2 read", "2 said", "1 pay before", "4 model", "1 step stop"}
	ctx, over := context.WithCancel(t.Context())
	var users sync.WaitGroup
	for n := range places {
		users.Go(func() {
			for k, text := range []string{"Go on.", "Do not tell my wife."} {
				w := session.Words{ID: text, Text: text, Stop: k == 0}
				for err := errors.New("not said"); err != nil && ctx.Err() == nil; {
					err = Say(c, fmt.Sprint("order-", n), w, 100*time.Millisecond)
				}
			}
		})
	}
	ended := outlives(t, "talking", done, places)
	over()
	users.Wait()
	for n, line := range ended {
		assert.Contains(t, line, " 3 messages, ", "order-%d has heard each message once", n)
	}
	isPaidOrInDoubt(t, ended, paidIn(t, done), "")
}

// settle answers the questions of a session, and notes which it has seen.
func settle(t *testing.T, c sdk.Context, id, done string, seen map[string]machine.AskKind) {
	asks, err := Asking(c, id, 10*time.Millisecond)
	if err != nil {
		return // nothing was asked yet
	}
	for _, a := range asks {
		seen[id+" "+a.ID] = a.Kind
		r := machine.Response{Question: a.ID, Verdict: machine.Approve}
		if a.Kind == machine.AskDoubt {
			r.Verdict = machine.RunAgain
			if paidIn(t, done)[id] > 0 {
				r.Verdict, r.Result = machine.WasDone, []byte(`"done"`)
			}
		}
		err := Answer(c, id, r, 100*time.Millisecond)
		if err != nil && !errors.Is(err, ErrNotTaken) && !errors.Is(err, loop.ErrNobodyAsks) {
			assert.ErrorIs(t, err, machine.ErrAnswered, "%s %s", id, a.ID)
		}
	}
}

// paidIn returns how often each session was paid.
func paidIn(t *testing.T, done string) map[string]int {
	text, err := os.ReadFile(done)
	if !errors.Is(err, os.ErrNotExist) {
		assert.NoError(t, err)
	}
	paid := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if id, ok := strings.CutPrefix(line, "pay "); ok {
			paid[strings.TrimSpace(id)]++
		}
	}
	return paid
}

// outlives kills processes of a worker at places, one session more each time, and returns how each session
// ended. done is the file of what they did.
func outlives(t *testing.T, agent, done string, hangs []string) (ended []string) {
	url := database(t)
	start := func(hang string, count int) (*exec.Cmd, *bufio.Scanner) {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), envWorker+"="+url, envHang+"="+hang, envDone+"="+done,
			envCount+"="+strconv.Itoa(count), envAgent+"="+agent)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		return cmd, bufio.NewScanner(out)
	}
	for n, hang := range hangs {
		cmd, said := start(hang, n+1) // the new session comes to all places
		for said.Scan() && said.Text() != "hangs" {
		}
		require.Equal(t, "hangs", said.Text(), "it came to: %s", hang)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	cmd, said := start("", len(hangs))
	for said.Scan() {
		ended = append(ended, said.Text())
	}
	require.NoError(t, cmd.Wait())
	require.Len(t, ended, len(hangs), "each session ends")
	for _, line := range ended {
		assert.Contains(t, line, "Booked. <nil>")
	}
	return ended
}
