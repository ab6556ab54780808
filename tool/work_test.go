package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// expression is a schema whose alternatives lead back to themselves.
func expression(t testing.TB) *tool.Set {
	var ops []string
	for n := range 8 {
		ops = append(ops, fmt.Sprintf(`{"type":"object","properties":{"op":{"const":"o%d"},"l":{"$ref":"#/$defs/e"}},"required":["op","l"],"additionalProperties":false}`, n))
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

// All calls of a reply share one budget, for what is wrong with them too: what it does not suffice for is refused as
// work.
func TestExplainingIsPartOfTheWorkOfAReply(t *testing.T) {
	set := expression(t)
	found := set.Read(hostile(16, 62<<10), tool.DefaultSettings())
	require.Len(t, found.Calls, 16)
	assert.NotEqual(t, fault.RuleWork, found.Calls[0].Issues[0].Rule, "the first are explained")
	for _, c := range found.Calls[8:] {
		assert.Equal(t, fault.RuleWork, c.Issues[0].Rule)
	}
	small, large := memory(func() { set.Read(hostile(4, 62<<10), tool.DefaultSettings()) }), memory(func() { set.Read(hostile(16, 62<<10), tool.DefaultSettings()) })
	assert.Less(t, large, 4*small, "more calls than the budget suffices for take little more")
	assert.Less(t, large, uint64(200<<20))
}

// A document of very many values is refused before anything is made of it.
func TestManyValuesAreTooMuchWork(t *testing.T) {
	set := expression(t)
	many := `{"e":[` + strings.Repeat("1,", 150_000) + `1]}`
	found := set.Read(message.Reply{Calls: []message.Call{{ID: "a", Name: "calculate", Arguments: many}}}, tool.DefaultSettings())
	assert.Equal(t, fault.RuleWork, found.Calls[0].Issues[0].Rule)
	assert.Equal(t, "at most 100000 values", found.Calls[0].Issues[0].Expected)

	calculate, _ := set.Get("calculate")
	answer := tool.ReadAnswer("Here: "+many, calculate.Schema(), tool.DefaultSettings())
	assert.Equal(t, fault.RuleWork, answer.Issues[0].Rule)
	assert.Equal(t, "at most 100000 values", answer.Issues[0].Expected)
}

// Finding a value in a text takes little memory, whatever the text is made of.
func TestFindingAValueTakesLittleMemory(t *testing.T) {
	calculate, _ := expression(t).Get("calculate")
	for _, unit := range []string{`"<a>"`, "<a>", "<think>", "</think>", `<x>{a`, "```{", "[A"} {
		text := strings.Repeat(unit, (1<<20)/len(unit))
		took := memory(func() { tool.ReadAnswer(text, calculate.Schema(), tool.Settings{Text: policy.Note}) })
		assert.Less(t, took, uint64(50*len(text)), unit)
	}
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
		set.Read(reply, tool.DefaultSettings())
	}
}

// BenchmarkTextOfTags looks for a value in 1 MB of tags.
func BenchmarkTextOfTags(b *testing.B) {
	calculate, _ := expression(b).Get("calculate")
	text := strings.Repeat(`"<a>"`, (1<<20)/5)
	b.ReportAllocs()
	for b.Loop() {
		tool.ReadAnswer(text, calculate.Schema(), tool.DefaultSettings())
	}
}
