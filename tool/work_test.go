package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/race"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// expression is a schema whose alternatives lead back to themselves. Each takes "any", so that no tag tells
// them apart.
func expression(t testing.TB) *tool.Set {
	var ops []string
	for n := range 8 {
		ops = append(ops, fmt.Sprintf(`{"type":"object","properties":{"op":{"enum":["o%d","any"]},"l":{"$ref":"#/$defs/e"}},"required":["op","l"],"additionalProperties":false}`, n))
	}
	parameters := `{"type":"object","properties":{"e":{"type":"array","items":{"$ref":"#/$defs/e"}}},"$defs":{"e":{"oneOf":[{"type":"integer"},` + strings.Join(ops, ",") + `]}}}`
	made, err := tool.Raw("calculate", "Calculate.", []byte(parameters), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	require.NoError(t, err)
	set, err := tool.NewSet(made)
	require.NoError(t, err)
	return set
}

// hostile is a reply of calls that are as hard to explain as their size allows.
func hostile(calls, bytes int) message.Reply {
	row := strings.Repeat(`{"op":"o7","l":`, 40) + `"x"` + strings.Repeat("}", 40)
	arguments := `{"e":[` + strings.Repeat(row+",", bytes/len(row)) + `1]}`
	var r message.Reply
	for n := range calls {
		r.Calls = append(r.Calls, message.Call{ID: fmt.Sprint("c", n), Name: "calculate", Arguments: arguments})
	}
	return r
}

// All calls of a reply share one budget, for what is wrong with them too: what it does not suffice for is
// refused as work.
func TestExplainingIsPartOfTheWorkOfAReply(t *testing.T) {
	set := expression(t)
	found := set.Read(hostile(16, 62<<10), defaults())
	require.Len(t, found.Calls, 16)
	assert.NotEqual(t, fault.RuleWork, found.Calls[0].Issues[0].Rule, "the first are explained")
	for _, c := range found.Calls[8:] {
		assert.Equal(t, fault.RuleWork, c.Issues[0].Rule)
	}
	small, large := memory(func() { set.Read(hostile(4, 62<<10), defaults()) }), memory(func() { set.Read(hostile(16, 62<<10), defaults()) })
	assert.Less(t, large, 4*small, "more calls than the budget suffices for take little more")
	assert.Less(t, large, uint64(200<<20))
}

// A document of very many values is refused before anything is made of it.
func TestManyValuesAreTooMuchWork(t *testing.T) {
	set := expression(t)
	many := `{"e":[` + strings.Repeat("1,", 150_000) + `1]}`
	found := set.Read(message.Reply{Calls: []message.Call{{ID: "a", Name: "calculate", Arguments: many}}}, defaults())
	assert.Equal(t, fault.RuleWork, found.Calls[0].Issues[0].Rule)
	assert.Equal(t, "at most 100000 values", found.Calls[0].Issues[0].Expected)

	calculate, _ := set.Get("calculate")
	answer := tool.ReadAnswer("Here: "+many, calculate.Schema(), defaults())
	assert.Equal(t, fault.RuleWork, answer.Issues[0].Rule)
	assert.Equal(t, "at most 100000 values", answer.Issues[0].Expected)
}

// wrong is a type by which most of what models send is wrong, with rules of every kind.
type wrong struct {
	Name  string             `json:"name" validate:"required,email"`
	Count int                `json:"count" validate:"gt=0"`
	Tags  []string           `json:"tags" validate:"unique,dive,lowercase,len=3"`
	Nums  []float64          `json:"nums" validate:"unique,dive,gt=3"`
	Map   map[string]float64 `json:"map" validate:"dive,keys,email,endkeys"`
}

// many is about 1 MB of a unit.
func many(unit string) string { return upTo(1e6, unit) }

// upTo repeats a unit, with its number in the place of %d, up to about so many bytes.
func upTo(size int, unit string) string {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		b.WriteString(strings.ReplaceAll(unit, "%d", strconv.Itoa(n)))
	}
	return strings.TrimSuffix(b.String(), ",")
}

// hostileArguments are arguments of about 1 MB, by what is hard about them.
func hostileArguments() map[string]string {
	long := strings.Repeat("k", 5e5)
	return map[string]string{
		"many keys":              "{" + many(`"k%d":1e308,`) + "}",
		"many keys to escape":    "{" + many(`"/~%d":1,`) + "}",
		"long keys":              "{" + many(`"%d`+strings.Repeat("~", 8000)+`":1,`) + "}",
		"one long key":           `{"` + strings.Repeat("~", 1e6) + `":1}`,
		"values in a long key":   `{"` + long + `":[` + strings.Repeat("1,", 9e4) + "1]}",
		"members in a long key":  `{"` + long + `":{` + many(`"k%d":[],`) + "}}",
		"keys in keys":           strings.Repeat(`{"`+strings.Repeat("~", 16000)+`":`, 60) + `{"nums":[` + strings.Repeat("1e308,", 8e4) + "1]}" + strings.Repeat("}", 60),
		"huge numbers":           `{"nums":[` + strings.Repeat("1e308,", 9e4) + "1]}",
		"tiny numbers":           `{"nums":[` + strings.Repeat("1e-308,", 9e4) + "1]}",
		"numbers that differ":    `{"nums":[` + many("%de290,") + "]}",
		"long numbers":           `{"nums":[` + many(strings.Repeat("7", 300)+",") + "]}",
		"strings":                `{"tags":[` + strings.Repeat(`"A",`, 9e4) + `"A"]}`,
		"one long string":        `{"name":"` + strings.Repeat("<", 1e6) + `"}`,
		"a string of JSON":       `{"tags":` + strconv.Quote("["+strings.Repeat("1,", 9e4)+"1]") + "}",
		"strings of JSON":        "{" + many(`"k%d":"{\"a\":[1,2,3]}",`) + "}",
		"a string in a string":   `{"tags":` + strconv.Quote(strconv.Quote("["+strings.Repeat(`"a",`, 5e4)+"1]")) + "}",
		"deep rows":              `{"nums":[` + many(strings.Repeat("[", 60)+"1"+strings.Repeat("]", 60)+",") + "]}",
		"nothing but braces":     strings.Repeat("{", 1e6),
		"nothing but brackets":   strings.Repeat("[", 1e6),
		"a member named twice":   "{" + many(`"k%d":1,`) + `,"k1":1}`,
		"quotes that nearly end": `{"name":"` + strings.Repeat(`",`, 5e5) + `"}`,
		"comments":               `{"nums":[` + strings.Repeat("/**/", 25e4) + "1]}",
		"Python":                 `{'nums':[` + strings.Repeat("None,", 9e4) + "1]}",
		"names without quotes":   "{" + many("k%d:1,") + "}",
	}
}

// Judging a call of up to 1 MB, mending it and saying what is wrong with it take 10 MB beyond reading it at
// most, whatever it is made of. A call that is mended is read once more.
func TestAHostileCallTakesLittleMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates for itself, and keeps no decoders")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would empty the pool of decoders
	wants := tool.New("order", "Order.", func(context.Context, wrong) (string, error) { return "", nil })
	set, err := tool.NewSet(wants)
	require.NoError(t, err)
	for name, arguments := range hostileArguments() {
		reply := message.Reply{Calls: []message.Call{{ID: "a", Name: "order", Arguments: arguments}}}
		docs := [][]byte{[]byte(arguments)}
		mended := set.Read(reply, tool.Settings{Native: policy.RepairsNote}).Calls[0].Arguments
		if canonical, _ := canon.JSON([]byte(arguments)); string(mended) != string(canonical) {
			docs = append(docs, mended)
		}
		runtime.GC()
		parsing(docs...) // decoders keep their memory for the next
		reading := parsing(docs...)
		for _, mode := range []policy.Repairs{policy.RepairsRefuse, policy.RepairsNote} {
			if mode == policy.RepairsNote && testing.Short() {
				continue
			}
			read := func() { set.Read(reply, tool.Settings{Native: mode}) }
			const most = 10 << 20
			took := taking(most+reading, read)
			assert.Less(t, took-reading, most, "%s, %s: %d MB, of which reading takes %d", name, mode, took>>20, reading>>20)
		}
	}
}

// parsing is what it takes to read documents: their canonical form, and their values.
func parsing(docs ...[]byte) int {
	return int(memory(func() {
		for _, doc := range docs {
			_, _ = canon.JSON(doc)
			schema.Strict(doc, schema.DefaultLimits())
		}
	}))
}

// hostileTexts are texts of about so many bytes, by what they are made of. Most have very many small calls.
func hostileTexts(size int) map[string]string {
	texts := map[string]string{}
	for _, unit := range []string{
		`"<a>"`, "<a>", "<think>", "</think>", "<x>{a", "```{", "[A", "```json\n{}\n```\n", "{}", "[1]", "{", "[", `{"a":[`, `"`, "{a:", `{"a":`,
		"order(", `order("`, "order{", "[[1,2,3]]", "order.order.", "{'", "<tool_call>", "<tool_call>{}", "<function=order>", "order()\n",
		"v = {}\norder(v)\n", "```\nv = {}\n", `<tool_call>{"name":"order"}</tool_call>`,
		// with the number of the unit in the place of %d, so that no call repeats another
		`{"name":"order","arguments":{"count":%d}},`, `{"name":"order","count":%d},`, "order(count=%d),", `{"order":{"count":%d}},`, `["order",{"count":%d}],`,
		`["order(count=%d)"],`, `<tool_call>{"name":"order","arguments":{"count":%d}}</tool_call>`, `{"name":"order","arguments":"{\"count\":%d}"},`,
		"<function=order><parameter=count>%d</parameter></function>", `order({"count":%d}),`, `order {"count":%d},`, "```\norder(count=%d)\n```\n",
		`<tool_call>{"name":"u%d","arguments":{}}</tool_call>`, `{"function":{"name":"order","arguments":{"a":%d}},"type":"function"},`,
	} {
		text := upTo(size, unit)
		texts[unit] = text
		if strings.Contains(unit, "%d") {
			texts["a list of "+unit] = "[" + strings.TrimSuffix(upTo(size, strings.TrimSuffix(unit, ",")+","), ",") + "]"
		}
	}
	return texts
}

// A text of very many calls is refused for their number, which takes little memory. So does looking for an
// answer in it. Four times the text takes no more than four times as much.
func TestATextOfVeryManyCallsTakesLittleMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates for itself, and keeps no decoders")
	}
	set := ordering(t)
	order, _ := set.Get("order")
	settings := tool.Settings{Text: policy.RepairsNote, MaxCalls: 128}
	const few = 128 << 10 // for as many calls as are read
	n := 32 << 10
	if !testing.Short() {
		n = 256 << 10
	}
	for _, size := range []int{n, 4 * n} {
		for name, text := range hostileTexts(size) {
			most := 10*size + few
			took := taking(most, func() { set.Read(message.Reply{Text: text}, settings) })
			assert.Less(t, took, most, "calls in %d KB of %s: %d KB", size>>10, name, took>>10)

			most = 10*size + few
			if raw, _, _ := extract.Value(text, extract.Options{}); raw != nil {
				most += parsing(raw)
			}
			took = taking(most, func() { tool.ReadAnswer(text, order.Schema(), settings) })
			assert.Less(t, took, most, "an answer in %d KB of %s: %d KB", size>>10, name, took>>10)
		}
	}
}

// Without a bound of the caller's a reply has at most a thousand calls, which take 10 MB.
func TestAReplyWithoutABoundIsBounded(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates for itself, and keeps no decoders")
	}
	set := ordering(t)
	for _, unit := range []string{
		"order(count=%d),", "<function=order><parameter=count>%d</parameter></function>", `{"name":"order","arguments":{"count":%d}},`,
	} {
		text := upTo(1<<20, unit)
		const most = 11 << 20
		took := taking(most, func() { set.Read(message.Reply{Text: text}, tool.Settings{Text: policy.RepairsNote}) })
		assert.Less(t, took, most, "%s: %d KB", unit, took>>10)
	}
	for _, calls := range []int{policy.MostCalls, policy.MostCalls + 1} {
		found := set.Read(hostile(calls, 0), tool.Settings{MaxCalls: 5000})
		if calls > policy.MostCalls {
			assert.Empty(t, found.Calls)
			assert.Equal(t, calls, found.Over)
			continue
		}
		assert.Len(t, found.Calls, calls)
		assert.Zero(t, found.Over)
	}
}

// Finding a call or an answer in a text of up to 1 MB, judging it, mending it and saying what is wrong with
// it take 10 MB beyond reading it at most.
func TestAHostileCallInTextTakesLittleMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates for itself, and keeps no decoders")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would empty the pool of decoders
	set := ordering(t)
	order, _ := set.Get("order")
	settings := tool.Settings{Text: policy.RepairsNote, MaxCalls: 128}
	hostile := hostileArguments()
	readings := map[string]int{}
	for n, name := range canon.Keys(hostile) {
		arguments := hostile[name]
		if n%4 != 0 && testing.Short() {
			continue
		}
		for form, text := range map[string]string{
			"a tag":       `<tool_call>{"name":"order","arguments":` + arguments + "}</tool_call>",
			"Python":      "order(**" + arguments + ")",
			"five fifths": strings.Repeat(`{"name":"order","arguments":`+arguments[:len(arguments)/5]+"}\n", 5),
		} {
			runtime.GC()
			read := func() []byte {
				if calls := set.Read(message.Reply{Text: text}, settings).Calls; len(calls) > 0 {
					return calls[0].Arguments
				}
				return nil
			}
			takesLittle(t, form+", "+name, text, arguments, readings, read)
			takesLittle(t, "answer, "+form+", "+name, text, arguments, readings, func() []byte { return tool.ReadAnswer(text, order.Schema(), settings).Raw })
		}
	}
}

// takesLittle checks what it takes to read a text. readings are what it takes to parse the documents of the
// texts so far: it is the same in each.
func takesLittle(t *testing.T, name, text, arguments string, readings map[string]int, read func() []byte) {
	found := read()
	const most = 10 << 20
	var docs [][]byte
	if found != nil {
		docs = append(docs, found)
		if raw, _, _ := extract.Value(arguments, extract.Options{}); raw != nil && len(found) != len(raw) {
			docs = append(docs, raw)
		}
	}
	all := string(bytes.Join(docs, []byte("\n")))
	reading, known := readings[all]
	if !known {
		parsing(docs...) // decoders keep their memory for the next
		reading = parsing(docs...)
		readings[all] = reading
	}
	took := taking(most+reading, func() { read() })
	assert.Less(t, took-reading, most, "%s: %d KB of %d KB, of which reading takes %d KB", name, took>>10, len(text)>>10, reading>>10)
}

func ordering(t *testing.T) *tool.Set {
	wants := tool.New("order", "Order.", func(context.Context, wrong) (string, error) { return "", nil })
	set, err := tool.NewSet(wants)
	require.NoError(t, err)
	return set
}

// What a check makes is used: running a tool of a raw schema takes the text that is checked, and the copy
// that is the tool's own, but no canonical form.
func TestRunningARawToolMakesNoCanonicalForm(t *testing.T) {
	raw, err := tool.Raw("note", "", []byte(`{}`), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	require.NoError(t, err)
	args := []byte(`{"text":"` + strings.Repeat("a", 1<<16) + `"}`)
	run := func() { require.NotNil(t, raw.Invoke(t.Context(), args).Result) }
	run()
	most := len(args) * 5 / 2
	assert.Less(t, taking(most, run), most)
}

// taking is the memory that a function takes. Where it is more than it may be, it is measured again: on
// another processor there may be no decoder to use again.
func taking(most int, f func()) (took int) {
	for again := 0; again < 4 && (again == 0 || took >= most); again++ {
		took = int(memory(f))
	}
	return took
}

func memory(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkHostileReply reads 1 MB of calls that are wrong at every depth.
func BenchmarkHostileReply(b *testing.B) {
	set, reply := expression(b), hostile(16, 62<<10)
	b.ReportAllocs()
	for b.Loop() {
		set.Read(reply, defaults())
	}
}

// BenchmarkTextOfTags looks for a value in 1 MB of tags.
func BenchmarkTextOfTags(b *testing.B) {
	calculate, _ := expression(b).Get("calculate")
	text := strings.Repeat(`"<a>"`, (1<<20)/5)
	b.ReportAllocs()
	for b.Loop() {
		tool.ReadAnswer(text, calculate.Schema(), defaults())
	}
}

// BenchmarkHostileCall reads and repairs each hostile call of 1 MB.
func BenchmarkHostileCall(b *testing.B) {
	wants := tool.New("order", "Order.", func(context.Context, wrong) (string, error) { return "", nil })
	set, err := tool.NewSet(wants)
	require.NoError(b, err)
	for name, arguments := range hostileArguments() {
		reply := message.Reply{Calls: []message.Call{{ID: "a", Name: "order", Arguments: arguments}}}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				set.Read(reply, tool.Settings{Native: policy.RepairsNote})
			}
		})
	}
}
