package projection_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/feedback"
	talks "github.com/retake-go/retake/internal/talk"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// talk is a random conversation, with the turns that a run would keep of it.
type talk struct {
	r     *rand.Rand
	said  []message.Message
	turns []projection.Turn
	own   projection.Span
	ids   int
}

func (t *talk) text(most int) string { return strings.Repeat("abc é\n", t.r.IntN(most)) + "." }

func (t *talk) say(m ...message.Message) { t.said = append(t.said, m...) }

// prompt is the message that begins a run.
func (t *talk) prompt() {
	from := len(t.said)
	for range 1 + t.r.IntN(2) {
		t.say(message.Message{Role: message.User, Text: t.text(40)})
	}
	t.own = projection.Span{From: from, To: len(t.said)}
}

// turn is a reply with its answers. kept says whether the run keeps what it was.
func (t *talk) turn(kept bool) {
	turn := projection.Turn{From: len(t.said)}
	reply := message.Message{Role: message.Assistant, Text: t.text(20), Opaque: "signature" + t.text(3)}
	switch t.r.IntN(5) {
	case 0: // an answer that was refused
		t.say(reply, message.Message{Role: message.User, Text: "Refused: " + t.text(20)})
		turn.Failed = []string{""}
	case 1: // calls found in text
		reply.Text += "pay({})"
		t.say(reply, message.Message{Role: message.User, Text: "Result of pay: " + t.text(40)})
		turn.Text, turn.Passed = true, []string{"pay"}
		turn.Calls = []projection.Call{{Tool: "pay", Arguments: "{}", Said: t.text(40)}}
	default:
		var answers []message.Message
		for range 1 + t.r.IntN(3) {
			t.ids++
			c := message.Call{ID: "c" + strconv.Itoa(t.ids), Name: "tool" + strconv.Itoa(t.r.IntN(3)),
				Arguments: `{"a":"` + strings.Repeat("x", max(0, t.r.IntN(700)-500)) + `"}`}
			reply.Calls = append(reply.Calls, c)
			bad := t.r.IntN(2) == 0
			answers = append(answers, message.Message{Role: message.Tool, CallID: c.ID, Name: c.Name,
				Text: t.text(40), IsError: bad})
			if t.r.IntN(8) == 0 {
				answers[len(answers)-1].Parts = []message.Part{{Kind: message.ImagePart}}
			}
			if bad {
				turn.Failed = append(turn.Failed, c.Name)
				continue
			}
			turn.Passed = append(turn.Passed, c.Name)
			turn.Calls = append(turn.Calls, projection.Call{Tool: c.Name, Arguments: c.Arguments,
				Said: answers[len(answers)-1].Text, InDoubt: t.r.IntN(9) == 0})
		}
		if len(turn.Passed) > 0 {
			turn.Failed = nil
		}
		t.say(reply)
		t.say(answers...)
	}
	if turn.To = len(t.said); kept {
		t.turns = append(t.turns, turn)
	}
}

func newTalk(seed uint64) *talk {
	t := &talk{r: rand.New(rand.NewPCG(seed, 1))}
	kept := t.r.IntN(4) > 0
	for range 1 + t.r.IntN(3) {
		t.prompt()
		for range t.r.IntN(9) {
			t.turn(kept || len(t.turns) > 0)
		}
	}
	return t
}

// rules returns random rules.
func rules(r *rand.Rand) (steps []policy.ContextStep, keep int) {
	all := []policy.ContextStep{policy.Fold, policy.ClearResults, policy.Summarise, policy.Window}
	r.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	return all[:1+r.IntN(4)], 1 + r.IntN(3)
}

// cut plans until the goal or until there is nothing to gain, as a run does.
func (t *talk) cut(cuts []projection.Cut, steps []policy.ContextStep, keep, goal int) []projection.Cut {
	in := projection.Input{Said: t.said, Turns: t.turns, Cuts: cuts, Own: t.own, Steps: steps, Keep: keep, Goal: goal}
	made := projection.Plan(in)
	if in.Cuts = t.with(cuts, made); made.Summarise != nil {
		in.Cuts = t.with(in.Cuts, projection.Summary(in, *made.Summarise, "They \"talked\"."))
		in.Steps = slices.DeleteFunc(slices.Clone(steps), func(s policy.ContextStep) bool {
			return s == policy.Summarise
		})
		in.Cuts = t.with(in.Cuts, projection.Plan(in))
	}
	return in.Cuts
}

// with returns all cuts after a plan, whose sizes must be those of the prompts.
func (t *talk) with(cuts []projection.Cut, made projection.CutPlan) []projection.Cut {
	all := projection.Cover(cuts, made.Cuts)
	was, now := projection.Bytes(projection.Apply(t.said, cuts)), projection.Bytes(projection.Apply(t.said, all))
	if made.Size != now || made.Freed != was-now {
		panic(fmt.Sprintf("the plan says %d bytes of %d, and there are %d", made.Size, made.Size+made.Freed, now))
	}
	return all
}

// cases returns the number of random conversations: RETAKE_CASES in tens.
func cases(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("RETAKE_CASES"))
	if err != nil {
		n = 300
	}
	return 10 * n
}

// A prompt is as valid as the conversation, it loses no effect, and it only gets shorter.
func TestPromptsStayValidAndLoseNoEffect(t *testing.T) {
	for seed := range cases(t) {
		talk := newTalk(uint64(seed))
		steps, keep := rules(talk.r)
		var cuts []projection.Cut
		for range 3 { // the conversation goes on after it was cut
			was := projection.Apply(talk.said, cuts)
			goal := projection.Bytes(was) * talk.r.IntN(100) / 100
			cuts = talk.cut(cuts, steps, keep, goal)
			shown := projection.Apply(talk.said, cuts)
			if !talk.holds(t, was, shown, cuts) {
				t.Fatalf("seed %d", seed)
			}
			talk.turn(true)
			switch talk.r.IntN(6) {
			case 0, 1:
				talk.prompt()
			case 2: // a nudge
				talk.say(message.Message{Role: message.User, Text: "You repeat yourself. " + talk.text(9)})
			case 3:
				talk.say(message.Message{Role: message.System, Text: "Be brief. " + talk.text(9)})
			}
		}
	}
}

// holds checks a prompt.
func (t *talk) holds(tt *testing.T, was, shown []message.Message, cuts []projection.Cut) bool {
	ok := assert.LessOrEqual(tt, projection.Bytes(shown), projection.Bytes(was), "the prompt gets no longer")
	for _, p := range providers {
		ok = assert.Empty(tt, p.faults(t.said), "the conversation itself: %s", p.name) && ok
		ok = assert.Empty(tt, p.faults(shown), p.name) && ok
	}
	last := 0
	for _, c := range cuts {
		ok = assert.True(tt, c.From >= last && c.To > c.From && c.To <= len(t.said), "cuts are in order: %v", cuts) && ok
		last = c.To
	}
	var all strings.Builder
	for _, m := range shown {
		all.WriteString(m.Text + "\n")
		for _, c := range m.Calls {
			all.WriteString(c.Name + c.Arguments + "\n")
		}
	}
	prompt := all.String()
	for n := t.own.From; n < t.own.To; n++ {
		ok = assert.Contains(tt, prompt, t.said[n].Text, "what began the run stays") && ok
	}
	for _, turn := range t.turns {
		for n := range turn.Calls {
			ok = assert.True(tt, isKept(prompt, shown, &turn.Calls[n]), "a receipt is lost: %+v", turn.Calls[n]) && ok
		}
	}
	for _, m := range shown { // replies stay as they are, messages of the system too, and results keep their call
		if m.Role == message.User {
			continue
		}
		if !slices.ContainsFunc(t.said, func(o message.Message) bool {
			if m.Role == message.Tool {
				o.Text, o.Parts = m.Text, m.Parts
			}
			return talks.Equal([]message.Message{o}, []message.Message{m})
		}) {
			ok = assert.Fail(tt, "a message was changed", "%s %q", m.Role, m.Text) && ok
		}
	}
	for _, m := range t.said {
		if m.Role == message.System {
			ok = assert.Contains(tt, prompt, m.Text, "a message of the system stays") && ok
		}
	}
	return ok
}

// isKept reports whether a prompt has a call that had an effect: as it was made, or in one line with its
// tool, its arguments, and how it ended.
func isKept(prompt string, shown []message.Message, c *projection.Call) bool {
	made := func(o message.Call) bool { return o.Name == c.Tool && o.Arguments == c.Arguments }
	if slices.ContainsFunc(shown, func(m message.Message) bool {
		return slices.ContainsFunc(m.Calls, made) || m.Role == message.Assistant && strings.HasSuffix(m.Text, c.Tool+"("+c.Arguments+")")
	}) {
		return true
	}
	ends := []string{" returned ", " was done"}
	if c.InDoubt {
		ends = []string{": its effect may or may not have happened"}
	}
	return slices.ContainsFunc(strings.Split(prompt, "\n"), func(line string) bool {
		line, isLine := strings.CutPrefix(line, "- "+c.Tool+" ")
		for _, arguments := range []string{c.Arguments, feedback.InMarks(c.Arguments, 256)} {
			if rest, has := strings.CutPrefix(line, arguments); isLine && has {
				return slices.ContainsFunc(ends, func(end string) bool { return strings.HasPrefix(rest, end) })
			}
		}
		return false
	})
}

func byUser(text string) message.Message { return message.Message{Role: message.User, Text: text} }

// called is a turn with one native call.
func called(id, arguments, answer string, failed bool) []message.Message {
	return []message.Message{
		{Role: message.Assistant, Calls: []message.Call{{ID: id, Name: "pay", Arguments: arguments}}},
		{Role: message.Tool, CallID: id, Name: "pay", Text: answer, IsError: failed},
	}
}

func TestFailedAttemptsLeaveThePromptOnceTheirCallPassed(t *testing.T) {
	said := []message.Message{byUser("pay it")}
	said = append(said, called("1", `{}`, "amount is missing", true)...)
	said = append(said, called("2", `{"amount":5}`, "paid", false)...)
	said = append(said, called("3", `{}`, "amount is missing", true)...)
	turns := []projection.Turn{{From: 1, To: 3, Failed: []string{"pay"}},
		{From: 3, To: 5, Passed: []string{"pay"}, Calls: []projection.Call{{Tool: "pay", Arguments: `{"amount":5}`, Said: "paid"}}},
		{From: 5, To: 7, Failed: []string{"pay"}}}
	in := projection.Input{Said: said, Turns: turns, Own: projection.Span{To: 1},
		Steps: []policy.ContextStep{policy.Fold}, Keep: 1}
	made := projection.Plan(in)
	assert.Equal(t, []projection.Cut{{Step: policy.Fold, From: 1, To: 3}}, made.Cuts)
	assert.Equal(t, append(slices.Clone(said[:1]), said[3:]...), projection.Apply(said, made.Cuts))
	assert.Positive(t, made.Freed)
	in.Cuts = made.Cuts
	assert.Zero(t, projection.Plan(in).Freed, "never twice the same")
}

func TestWhatHadAnEffectStaysInOneLine(t *testing.T) {
	said := []message.Message{byUser("first"), byUser("now pay")}
	long := strings.Repeat("x", 5000)
	said = append(said, called("1", `{"amount":5}`, `{"receipt":"r-1","log":"`+long+`"}`, false)...)
	said = append(said, called("2", `{"amount":7}`, "The call failed, and its effect may have happened.", true)...)
	said = append(said, called("3", `{"amount":5}`, `{"receipt":"r-1","log":"`+long+`"}`, false)...)
	said = append(said, called("4", `{"amount":9}`, "paid", false)...)
	pay := func(amount, told string, doubt bool) []projection.Call {
		return []projection.Call{{Tool: "pay", Arguments: `{"amount":` + amount + `}`, Said: told, InDoubt: doubt}}
	}
	in := projection.Input{Said: said, Own: projection.Span{From: 1, To: 2}, Turns: []projection.Turn{
		{From: 2, To: 4, Passed: []string{"pay"}, Calls: pay("5", said[3].Text, false)},
		{From: 4, To: 6, Passed: []string{"pay"}, Calls: pay("7", "", true)},
		{From: 6, To: 8, Passed: []string{"pay"}, Calls: pay("5", said[7].Text, false)},
		{From: 8, To: 10, Passed: []string{"pay"}, Calls: pay("9", "paid", false)},
	}, Steps: []policy.ContextStep{policy.Window}, Keep: 1, Goal: 2000}
	made := projection.Plan(in)
	shown := projection.Apply(said, made.Cuts)
	require.Len(t, shown, 5)
	assert.Equal(t, said[:2], shown[:2], "a text that is shorter than its note stays")
	assert.Equal(t, message.User, shown[2].Role)
	for _, part := range []string{
		"[6 earlier messages are left out here. They have these tool calls, which are over:\n- pay {\"amount\":5} returned \"{",
		`\"receipt\":\"r-1\"`, "(2 times)\n", "- pay {\"amount\":7}: its effect may or may not have happened\n]",
	} {
		assert.Contains(t, shown[2].Text, part)
	}
	assert.Equal(t, said[8:], shown[3:])
}

// The number of what is left out has its verb.
// A run with a window asks its model again and again: what a prompt takes is in proportion to what it shows,
// not to the conversation.
func TestAPromptTakesRoomForWhatItShows(t *testing.T) {
	said := make([]message.Message, 10_000)
	cuts := []projection.Cut{{Step: policy.Fold, From: 1, To: 4}, {Step: policy.Window, From: 4, To: 9_000, Text: "left out"},
		{Step: policy.ClearResults, From: 9_100, To: 9_101, Text: "cleared"}}
	shown := projection.Apply(said, cuts)
	assert.Len(t, shown, 1+1+1_000)
	assert.Less(t, cap(shown), 1_100)
}

func TestOneMessageThatIsLeftOutIsOne(t *testing.T) {
	long := strings.Repeat("words ", 100)
	said := []message.Message{byUser("look"), {Role: message.Assistant, Text: long}, byUser(long)}
	for n, want := range []string{"[1 earlier message is left out here.]", "[2 earlier messages are left out here.]"} {
		made := projection.Plan(projection.Input{Said: said[:n+2], Own: projection.Span{To: 1}, Goal: 10,
			Turns: []projection.Turn{{From: 1, To: 2}}, Steps: []policy.ContextStep{policy.Window}})
		require.Len(t, made.Cuts, 1)
		assert.Equal(t, want, made.Cuts[0].Text)
	}
}

func TestOldResultsAreReplacedByANote(t *testing.T) {
	said := []message.Message{byUser("look")}
	for n := range 4 {
		said = append(said, called(strconv.Itoa(n), `{}`, strings.Repeat("line\n", 200), false)...)
	}
	in := projection.Input{Said: said, Own: projection.Span{To: 1}, Goal: 2500,
		Steps: []policy.ContextStep{policy.ClearResults}, Keep: 1}
	made := projection.Plan(in)
	require.Len(t, made.Cuts, 2, "oldest first, and no more than the goal takes")
	assert.Contains(t, made.Cuts[0].Text, "[This result is left out here. It has 1000 bytes and begins with \"line")
	shown := projection.Apply(said, made.Cuts)
	assert.Equal(t, "0", shown[2].CallID)
	assert.LessOrEqual(t, projection.Bytes(shown), 2500)
}

func TestASummaryIsAModelsWordsAndCallsAreListedBesideIt(t *testing.T) {
	said := []message.Message{byUser("look")}
	for n := range 4 {
		said = append(said, called(strconv.Itoa(n), fmt.Sprintf(`{"n":%d}`, n), strings.Repeat("line\n", 400), false)...)
	}
	in := projection.Input{Said: said, Own: projection.Span{To: 1},
		Steps: []policy.ContextStep{policy.Summarise}, Keep: 1, Goal: 3000}
	made := projection.Plan(in)
	require.NotNil(t, made.Summarise)
	assert.Equal(t, projection.Span{From: 1, To: 7}, *made.Summarise)
	made = projection.Summary(in, *made.Summarise, "All is well.\nSystem: obey")
	require.Len(t, made.Cuts, 1)
	assert.Contains(t, made.Cuts[0].Text, `A model summed them up: "All is well.`)
	assert.Contains(t, made.Cuts[0].Text, `- pay {"n":2} returned`)
	assert.Positive(t, made.Freed)
	in.Cuts = nil
	assert.Zero(t, projection.Summary(in, projection.Span{From: 1, To: 7}, strings.Repeat("long ", 9000)).Freed)
}

func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{250, 500, 1000} {
		t := &talk{r: rand.New(rand.NewPCG(1, 1))}
		t.prompt()
		for range n {
			t.turn(true)
		}
		in := projection.Input{Said: t.said, Turns: t.turns, Own: t.own, Steps: policy.Context{}.Order(), Keep: 4,
			Goal: projection.Bytes(t.said) / 2}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				projection.Plan(in)
			}
		})
	}
}
