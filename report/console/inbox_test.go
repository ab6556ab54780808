package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report/console"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// transfer are the arguments of the tool pay.
type transfer struct {
	To       string `json:"to" validate:"required" jsonschema:"who is paid"`
	Cents    int    `json:"cents" validate:"min=1,max=1000000"`
	Currency string `json:"currency" validate:"oneof=EUR USD"`
	Urgent   bool   `json:"urgent,omitempty"`
}

// pay is a tool that needs a person.
func pay(opts ...tool.Option) *tool.Tool {
	return tool.New("pay", "Pays.", func(context.Context, transfer) (string, error) { return "", errors.New("the line broke") }, opts...)
}

// asked makes a run that asks a person about a call, and returns its journal as it is then.
func asked(t testing.TB, name, arguments string, deadline time.Duration, tools ...*tool.Tool) []byte {
	t.Helper()
	return askedWith(t, session.Config{ID: name}, arguments, deadline, tools...)
}

func askedWith(t testing.TB, cfg session.Config, arguments string, deadline time.Duration, tools ...*tool.Tool) []byte {
	t.Helper()
	name, store := cfg.ID, &looptest.Store{}
	j, err := journal.Open(t.Context(), store, name, journal.Settings{})
	require.NoError(t, err)
	cfg.Journal = j
	s, err := session.New(cfg)
	require.NoError(t, err)
	set, err := tool.NewSet(tools...)
	require.NoError(t, err)
	var text []byte
	approver := func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
		text = store.Text(name)
		return machine.Response{}, errors.New("nobody is here")
	}
	in := loop.Input{Prompt: "Pay <b>ACME</b> 5 euros."}
	if deadline > 0 {
		in.Deadline = looptest.Epoch.Add(deadline)
	}
	model := looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: arguments}), looptest.Say("Paid."))
	_, err = fixture.Run(t.Context(), model, s, in, loop.Config{Tools: set}, loop.WithApprover(approver), loop.WithClock(looptest.NewClock()))
	require.ErrorContains(t, err, "nobody is here")
	return text
}

const acme = `{"to":"ACME","cents":500,"currency":"EUR"}`

// soonAfter sets the clock to when the runs ask.
func soonAfter(s *console.Settings) { s.Clock = startAt(looptest.Epoch.Add(5 * time.Second)) }

// The inbox has every question with its whole arguments: those about calls in doubt first, then by deadline.
func TestTheInbox(t *testing.T) {
	dir := t.TempDir()
	needs, doubts := tool.Approval(policy.Approval{When: policy.ApproveAlways}), tool.Approval(policy.Approval{InDoubt: policy.DoubtAsk})
	put(t, dir, "later.jsonl", asked(t, "later", strings.Replace(acme, "ACME", `<b>\u202eACME`, 1), 10*time.Minute, pay(needs)))
	put(t, dir, "sooner.jsonl", asked(t, "sooner", strings.Replace(acme, "ACME", "Bolt", 1), 65*time.Second, pay(needs)))
	put(t, dir, "doubtful.jsonl", asked(t, "doubtful", acme, 0, pay(doubts)))
	c := open(t, dir, soonAfter)
	page := body(t, ask(t, c, "GET", "/inbox"))
	cards := page[strings.Index(page, "<section"):] // the list of the questions is before them
	var at []int
	for _, want := range []string{
		"pay may have run: done, not done, or again?", "nothing happens until somebody does", "may pay run?", "refused at 2030-01-01 00:01:05 UTC",
		"s left)</i>", "Bolt", "refused at 2030-01-01 00:10:00 UTC", `&lt;b&gt;\u202eACME`,
	} {
		n := strings.Index(cards, want)
		require.Positive(t, n, want)
		at = append(at, n)
	}
	assert.IsIncreasing(t, at)
	assert.NotContains(t, page, "\u202e")
	assert.NotContains(t, page, "<b>\u202e")
	list := body(t, ask(t, c, "GET", "/api/sessions?state=asking"))
	assert.Contains(t, list, `"id":"doubtful","state":"asking","why":"pay may have run with cents 500, currency EUR, to ACME: done, not done, or again?","until":null,"in_doubt":1,`)
	assert.Contains(t, list, `By 2030-01-01 00:01:05 UTC, else refused","until":"2030-01-01T00:01:05Z"`)
}

// Of many questions a page has the first, and each question has the address of the page that it is on.
func TestAnInboxOfManyQuestionsHasPages(t *testing.T) {
	dir := t.TempDir()
	for n := range 51 {
		name := fmt.Sprintf("order-%02d", n)
		put(t, dir, name+".jsonl", asked(t, name, acme, time.Duration(n+1)*time.Minute, pay(always)))
	}
	c := open(t, dir, soonAfter)
	page := body(t, ask(t, c, "GET", "/inbox"))
	assert.Equal(t, 50, strings.Count(page, `<section class="card"`))
	assert.Contains(t, page, `1 to 50 of 51 <a href="inbox?page=2"`)
	assert.Contains(t, page, "‹ questions 1 to 50 of 51</a>", "they are not all")
	last := body(t, ask(t, c, "GET", "/inbox?page=99"))
	assert.Equal(t, 1, strings.Count(last, `<section class="card"`))
	assert.Contains(t, last, `aria-label="question of order-50"`)
	link := regexp.MustCompile(`"(inbox\?at=[^"#]*)#`).FindStringSubmatch(body(t, ask(t, c, "GET", "/session?id=order-50")))
	require.NotNil(t, link, "the page of the session leads to its question")
	assert.Contains(t, body(t, ask(t, c, "GET", link[1])), `aria-label="question of order-50"`)
}

type noScopes struct{}

func (noScopes) Scopes() []limiter.Status { return nil }

// Each page counts the questions, of which a session may have several, and leads to the others.
func TestEachPageCountsQuestionsAndLeadsToTheOthers(t *testing.T) {
	dir, store := t.TempDir(), &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "order-42", Journal: j})
	require.NoError(t, err)
	set, err := tool.NewSet(pay(always))
	require.NoError(t, err)
	var text []byte
	approver := func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
		text = store.Text("order-42")
		return machine.Response{}, errors.New("nobody is here")
	}
	two := looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: acme}, message.Call{ID: "c2", Name: "pay", Arguments: strings.Replace(acme, "ACME", "Bolt", 1)})
	_, err = fixture.Run(t.Context(), looptest.NewModel(two), s, loop.Input{Prompt: "Pay."}, loop.Config{Tools: set}, loop.WithApprover(approver), loop.WithClock(looptest.NewClock()))
	require.ErrorContains(t, err, "nobody is here")
	put(t, dir, "order-42.jsonl", text)
	c := open(t, dir, soonAfter, func(s *console.Settings) { s.Limits = noScopes{} })
	ask(t, c, "GET", "/api/sessions") // all were read
	for _, path := range []string{"./", "inbox", "limits"} {
		page := body(t, ask(t, c, "GET", path))
		assert.Contains(t, page, `<a href="`+path+`" aria-current="page">`)
		assert.Contains(t, page, `Sessions <b id="all">1</b></a>`, path)
		assert.Contains(t, page, `Inbox <b id="asking">2</b></a>`, path)
		assert.Contains(t, page, `>Limits</a>`, path)
	}
	assert.Contains(t, stream(t, c, "/events?q=")(), `"asking":2`)
}

// Two stores may each have a session of one id that asks the same. Their questions are two.
func TestQuestionsOfTwoStoresAreTwo(t *testing.T) {
	text, dirs := asked(t, "order-42", acme, time.Hour, pay(always)), []string{t.TempDir(), t.TempDir()}
	c := open(t, dirs[0], soonAfter, func(s *console.Settings) {
		s.Stores = []console.Named{{Name: "a", Store: journal.Dir(dirs[0])}, {Name: "b", Store: journal.Dir(dirs[1])}}
	})
	for _, dir := range dirs {
		put(t, dir, "order-42.jsonl", text)
	}
	next := stream(t, c, "/events?inbox=1")
	var said struct {
		Whole     bool
		Asking    int
		Questions map[string]string
		Gone      []string
	}
	require.NoError(t, json.Unmarshal([]byte(next()), &said))
	assert.True(t, said.Whole)
	assert.Equal(t, 2, said.Asking)
	assert.Len(t, said.Questions, 2)
	require.NoError(t, os.Remove(filepath.Join(dirs[1], "order-42.jsonl")))
	for len(said.Gone) == 0 {
		require.NoError(t, json.Unmarshal([]byte(next()), &said))
	}
	require.Len(t, said.Gone, 1)
	page := body(t, ask(t, c, "GET", "/inbox"))
	assert.NotContains(t, page, said.Gone[0])
	assert.Equal(t, 1, strings.Count(page, `<section class="card"`))
}

// Who is asked sees what the model said, and what came of the earlier calls of the tool: those that nobody
// knows of first.
func TestAQuestionTellsOfEarlierCalls(t *testing.T) {
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "order-42", Journal: j})
	require.NoError(t, err)
	set, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, in transfer) (string, error) {
		if in.Cents == 200 {
			return "", errors.New("the line broke")
		}
		return "<i>receipt</i>", nil
	}, tool.Approval(policy.Approval{When: policy.ApproveAlways})))
	require.NoError(t, err)
	questions, text := 0, []byte(nil)
	approver := func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
		if questions++; questions < 4 {
			return machine.Response{Verdict: machine.Approve}, nil
		}
		text = store.Text("order-42")
		return machine.Response{}, errors.New("nobody is here")
	}
	call := func(cents string) looptest.Turn {
		return looptest.Call(message.Call{ID: "c" + cents, Name: "pay", Arguments: strings.Replace(acme, "500", cents, 1)})
	}
	last := looptest.Turn{Reply: message.Reply{Text: "It is due <b>today</b>.", Calls: call("400").Reply.Calls}}
	_, err = fixture.Run(t.Context(), looptest.NewModel(call("100"), call("200"), call("300"), last), s,
		loop.Input{Prompt: "Pay ACME."}, loop.Config{Tools: set}, loop.WithApprover(approver), loop.WithClock(looptest.NewClock()))
	require.ErrorContains(t, err, "nobody is here")

	dir := t.TempDir()
	put(t, dir, "order-42.jsonl", text)
	page := body(t, ask(t, open(t, dir, soonAfter), "GET", "/inbox"))
	assert.Contains(t, page, `<dt>the model says, unchecked</dt><dd dir="auto">It is due &lt;b&gt;today&lt;/b&gt;.</dd>`)
	before := page[strings.Index(page, "pay before in this session"):]
	var at []int
	for _, want := range []string{`200,`, "nobody knows whether it was done", `300,`, "done, &lt;i&gt;receipt", `100,`} {
		n := strings.Index(before, want)
		require.Positive(t, n, "%s in %s", want, before)
		at = append(at, n)
	}
	assert.IsIncreasing(t, at)
}

// A page has room for some arguments; what is larger is shown when it is asked for, and can be answered.
func TestLargeArgumentsHaveAPageEach(t *testing.T) {
	dir := t.TempDir()
	large := strings.Replace(acme, "ACME", strings.Repeat("é long ", 12000)+"end", 1)
	for n := range 5 {
		name := fmt.Sprint("order-", n)
		put(t, dir, name+".jsonl", asked(t, name, large, time.Duration(n+1)*time.Hour, pay(always)))
	}
	c := open(t, dir, soonAfter)
	page := body(t, ask(t, c, "GET", "/inbox"))
	assert.Equal(t, 5, strings.Count(page, `<section class="card"`))
	assert.Less(t, len(page), 700<<10)
	left := regexp.MustCompile(`"inbox\?at=([^"#]*)#[^"]*">[0-9,]+ bytes: open them to answer`).FindAllStringSubmatch(page, -1)
	require.Len(t, left, 3)
	page = body(t, ask(t, c, "GET", "/inbox?at="+left[2][1]))
	assert.Equal(t, 2, strings.Count(page, "open them to answer"))
	in := formIn(t, page[strings.Index(page, `aria-label="question of order-4"`):])
	in.Set("verdict", "approve")
	assert.Equal(t, http.StatusSeeOther, send(t, c, in).StatusCode)
}

// Time and budgets of which less than a tenth is left are amber, in the inbox and in the list.
func TestWhatIsNearlyUsedUpIsMarked(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "order-42.jsonl", asked(t, "order-42", acme, 5500*time.Millisecond, pay(always)))
	put(t, dir, "order-43.jsonl", asked(t, "order-43", acme, time.Minute, pay(always)))
	c := open(t, dir, soonAfter, func(s *console.Settings) { s.Clock = standing{} })
	const amber = `<i class="soon" data-u="`
	assert.Equal(t, 1, strings.Count(body(t, ask(t, c, "GET", "/")), amber))
	page := body(t, ask(t, c, "GET", "/inbox"))
	assert.Equal(t, 2, strings.Count(page, amber), "at the question and in the list of questions")
	assert.Contains(t, page, `<dt>budget left</dt><dd><span>8 of 8 failed attempts</span></dd>`)
}

// The question of an agent says in whose call it is asked.
func TestAQuestionOfAnAgentSaysWhoCalledIt(t *testing.T) {
	dir := t.TempDir()
	outer := asked(t, "trip", acme, time.Hour, pay(always))
	put(t, dir, "trip.jsonl", outer)
	put(t, dir, "trip.1.1.1.jsonl", askedWith(t, session.Config{ID: "trip.1.1.1", Seed: "trip.1.1.1"}, acme, time.Hour, pay(always)))
	page := body(t, ask(t, open(t, dir, soonAfter), "GET", "/inbox"))
	assert.Equal(t, 1, strings.Count(page, `inside <a href="session?id=trip" dir="auto">trip</a>`))
}
