package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// defaults reads as the default policy does.
func defaults() tool.Settings {
	return tool.Settings{Text: policy.RepairsNote, Native: policy.RepairsRefuse, MaxCalls: policy.DefaultSet().MaxCalls}
}

func hotel(t testing.TB) *tool.Set {
	set, err := tool.NewSet(
		bookWith(func(context.Context, booking) (receipt, error) { return receipt{}, nil }),
		tool.New("clock", "", func(context.Context, struct{}) (int, error) { return 0, nil }),
	)
	require.NoError(t, err)
	return set
}

// told returns a call as one line.
func told(c tool.Call) string {
	s := fmt.Sprintf("%s %s %s", c.ID, c.Tool, c.Arguments)
	if c.Class != "" {
		s += fmt.Sprintf(" %s %v", c.Class, c.Issues)
	}
	for _, r := range c.Repairs {
		s += fmt.Sprintf(" (%s)", r.Kind)
	}
	return s
}

func tellAll(r tool.Calls) []string {
	out := []string{}
	for _, c := range r.Calls {
		out = append(out, told(c))
	}
	return out
}

// OpenAI's models and gpt-oss write the namespace of tools before their names, and servers leave it there.
func TestTheNamespaceOfFunctionsBeforeANativeNameIsDropped(t *testing.T) {
	own, err := tool.Raw("functions.clock", "", []byte(`{"type":"object"}`), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	require.NoError(t, err)
	both, err := tool.NewSet(append(hotel(t).All(), own)...)
	require.NoError(t, err)
	read := func(tools *tool.Set, set tool.Settings, name string) string {
		return tellAll(tools.Read(message.Reply{Calls: []message.Call{{ID: "x", Name: name, Arguments: "{}"}}}, set))[0]
	}
	for _, c := range []struct{ name, want string }{
		{"functions.clock", `x clock {} (alias)`},
		{"functions.book_room", `x book.room {} tool_validation [city: required, expected string (at least 1 character) nights: required, expected integer (at least 1, at most 30)] (alias)`},
		{"functions.functions.clock", `x  {} unknown_tool [(whole): expected one of book.room, clock]`},
		{"tools.clock", `x  {} unknown_tool [(whole): expected one of book.room, clock]`},
		{"functions.", `x  {} unknown_tool [(whole): expected one of book.room, clock]`},
	} {
		assert.Equal(t, c.want, read(hotel(t), defaults(), c.name))
	}
	assert.Equal(t, `x functions.clock {}`, read(both, defaults(), "functions.clock"), "a tool may have this name")
	accept, off := defaults(), defaults()
	accept.Native, off.Off = policy.RepairsAccept, []extract.Form{"alias"}
	assert.Equal(t, `x clock {}`, read(hotel(t), accept, "functions.clock"))
	assert.Equal(t, `x  {} unknown_tool [(whole): expected one of book.room, clock]`, read(hotel(t), off, "functions.clock"))
}

// A provider that merges the calls of a reply into one gives their arguments one after the other.
func TestArgumentsOfSeveralCallsAreNotTakenForThoseOfOne(t *testing.T) {
	set := defaults()
	set.Native = policy.RepairsNote
	read := func(arguments string) []string {
		return tellAll(hotel(t).Read(message.Reply{Calls: []message.Call{{ID: "x", Name: "book.room", Arguments: arguments}}}, set))
	}
	alone := "tool_validation [(whole): expected one JSON value and nothing after it]"
	assert.Equal(t, []string{"x book.room  " + alone}, read(`{"nights":2,"city":"Lisbon"}{"nights":3,"city":"Porto"}`))
	assert.Equal(t, []string{"x book.room  " + alone}, read("{\"nights\":2,\"city\":\"Lisbon\"}\n{'nights':3,'city':'Por"))
	assert.Equal(t, []string{`x book.room {"city":"Lisbon","nights":2} (prose)`}, read(`{"nights":2,"city":"Lisbon"}{"city":"Lisbon", "nights":2}`))
	assert.Equal(t, []string{`x book.room {"city":"Lisbon","nights":2} (prose)`}, read(`{"nights":2,"city":"Lisbon"} {done} [1]`))
}

func TestReadNativeCalls(t *testing.T) {
	cases := map[string]struct {
		calls []message.Call
		set   tool.Settings
		want  []string
	}{
		"good":  {calls: []message.Call{{ID: "x", Name: "book.room", Arguments: `{"nights": 2, "city": "Lisbon"}`}}, want: []string{`x book.room {"city":"Lisbon","nights":2}`}},
		"alias": {calls: []message.Call{{ID: "x", Name: "book_room", Arguments: good}}, want: []string{"x book.room " + good}},
		"no_arguments": {calls: []message.Call{{Name: "clock"}, {Name: "clock", Arguments: " \n"}, {Name: "book.room"}}, want: []string{
			"call-1 clock {}", "call-2 clock {}", "call-3 book.room {} tool_validation [city: required, expected string (at least 1 character) nights: required, expected integer (at least 1, at most 30)]"}},
		"bad_arguments": {calls: []message.Call{{Name: "book.room", Arguments: `{"city":"","nights":2,"x":1}`}},
			want: []string{`call-1 book.room {"city":"","nights":2,"x":1} tool_validation [city: expected at least 1 character, got string x: expected no member of this name (allowed: city, nights), got integer]`}},
		"unknown": {calls: []message.Call{{Name: "cancel", Arguments: `{}`}}, want: []string{`call-1  {} unknown_tool [(whole): expected one of book.room, clock]`}},
		"not_strict": {calls: []message.Call{{Name: "book.room", Arguments: `{'city': 'Lisbon', 'nights': 2}`}},
			want: []string{"call-1 book.room  tool_validation [(whole): expected double quotes around strings and names]"}},
		"repair_allowed": {calls: []message.Call{{Name: "book.room", Arguments: `{'city': 'Lisbon', 'nights': 2}`}}, set: tool.Settings{Native: policy.RepairsNote},
			want: []string{"call-1 book.room " + good + " (single_quotes) (single_quotes) (single_quotes)"}},
		"repair_without_a_note": {calls: []message.Call{{Name: "book.room", Arguments: `{"city": "Lisbon", "nights": 2,}`}}, set: tool.Settings{Native: policy.RepairsAccept},
			want: []string{"call-1 book.room " + good}},
		"cut_off_is_never_completed": {calls: []message.Call{{Name: "book.room", Arguments: `{"city": "Lisbon", "nights": 2`}}, set: tool.Settings{Native: policy.RepairsNote},
			want: []string{"call-1 book.room  tool_validation [(whole): expected JSON that is complete]"}},
		"ids": {calls: []message.Call{{Name: "clock"}, {ID: "call-1", Name: "clock"}, {ID: "a", Name: "clock"}, {ID: "a", Name: "clock"}}, want: []string{
			"call-5 clock {}", "call-1 clock {}", "a clock {}", "call-4 clock {}"}},
		"duplicate_members": {calls: []message.Call{{Name: "book.room", Arguments: `{"city":"a","city":"b","nights":1}`}},
			want: []string{"call-1 book.room  tool_validation [city: expected each member name once]"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, tellAll(hotel(t).Read(message.Reply{Text: "book.room(city='x', nights=1)", Calls: c.calls}, c.set)))
		})
	}
}

func TestReadCallsInText(t *testing.T) {
	cases := map[string]struct {
		text string
		set  tool.Settings
		want []string
	}{
		"none":    {text: "I would rather not.", set: defaults(), want: []string{}},
		"tag":     {text: `<tool_call>{"name": "book.room", "arguments": ` + good + `}</tool_call>`, set: tool.Settings{}, want: []string{"call-1 book.room " + good}},
		"unknown": {text: `<tool_call>{"name": "cancel", "arguments": {}}</tool_call>`, set: tool.Settings{}, want: []string{"call-1  {} unknown_tool [(whole): expected one of book.room, clock]"}},
		"invalid": {text: `<tool_call>{"name": "book.room", "arguments": {"city": 1, "nights": 1}}</tool_call>`, set: tool.Settings{}, want: []string{
			`call-1 book.room {"city":1,"nights":1} tool_validation [city: expected string (at least 1 character), got integer]`}},
		"repair_noted": {text: `<tool_call>{"name": "book.room", "arguments": {"city": "Lisbon", "nights": 2,}}</tool_call>`, set: tool.Settings{Text: policy.RepairsNote},
			want: []string{"call-1 book.room " + good + " (tag) (trailing_comma)"}},
		"repair_accepted": {text: `<tool_call>{"name": "book.room", "arguments": {"city": "Lisbon", "nights": 2,}}</tool_call>`, set: tool.Settings{Text: policy.RepairsAccept},
			want: []string{"call-1 book.room " + good}},
		"repair_refused": {text: `<tool_call>{"name": "book.room", "arguments": {"city": "Lisbon", "nights": 2,}}</tool_call>`, set: tool.Settings{Text: policy.RepairsRefuse},
			want: []string{"call-1 book.room " + good + " tool_validation [(whole): expected no comma after the last member or item] (tag) (trailing_comma)"}},
		"all_repairs_are_one_issue": {text: `<tool_call>{'name': 'book.room', 'arguments': {"city": 'Lisbon', nights: 2,}}</tool_call>`, set: tool.Settings{Text: policy.RepairsRefuse},
			want: []string{"call-1 book.room " + good + " tool_validation [(whole): expected double quotes around strings and names; no comma after the last member or item] " +
				"(tag) (single_quotes) (single_quotes) (single_quotes) (single_quotes) (unquoted_key) (trailing_comma)"}},
		"an_apostrophe": {text: `[book.room(city='It's late', nights=2)]`, set: tool.Settings{Text: policy.RepairsNote},
			want: []string{`call-1 book.room {"city":"It's late","nights":2} (python_syntax) (single_quotes) (apostrophe)`}},
		"quotes_within_a_string": {text: `[book.room(city='It''s late', nights=2)]`, set: tool.Settings{Text: policy.RepairsNote},
			want: []string{`call-1 book.room  tool_validation [(whole): expected strings in double quotes, with \" for those within] (single_quotes)`}},
		"a_wrapper_without_a_name": {text: `<tool_call>{"arguments": {"city": "Lisbon"}}</tool_call>`, set: tool.Settings{Text: policy.RepairsNote},
			want: []string{"call-1   unknown_tool [(whole): expected a tool's name and its arguments] (tag)"}},
		"broken": {text: `<tool_call>{"name": "book.room", "arguments": {"city": "Lisbon", "nights": `, set: tool.Settings{Text: policy.RepairsNote},
			want: []string{"call-1 book.room  tool_validation [(whole): expected JSON that is complete] (tag)"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := tellAll(hotel(t).Read(message.Reply{Text: c.text}, c.set))
			if c.set.Text == "" {
				for n := range got {
					got[n] = strings.TrimSuffix(got[n], " (tag)")
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestSets(t *testing.T) {
	set := hotel(t)
	assert.Equal(t, []string{"book.room", "clock"}, set.Names())
	assert.Equal(t, "book_room", tool.ProviderName("book.room"))
	book, ok := set.Get("book.room")
	require.True(t, ok)
	assert.Equal(t, "Book a hotel room.", book.Description())
	assert.Equal(t, `{"properties":{"city":{"type":"string","minLength":1},"nights":{"type":"integer","maximum":30,"minimum":1}},"additionalProperties":false,"type":"object","required":["city","nights"]}`, string(book.Parameters()))
	_, ok = set.Get("book_room")
	assert.False(t, ok)

	raw := func(name string) *tool.Tool {
		r, err := tool.Raw(name, "", []byte(`{}`), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
		require.NoError(t, err)
		return r
	}
	_, err := tool.NewSet(raw("a.b"), nil, raw("a_b"), raw("a.b"))
	require.EqualError(t, err, "tools[1]: is nil\n"+
		"tools[2]: \"a.b\" and \"a_b\" would both be \"a_b\" to a provider: rename one\n"+
		"tools[3]: \"a.b\" is given twice: leave one out, or rename it")

	_, err = tool.NewSet(raw("_21st"), raw("21st"), raw("-x"), raw("x"), raw("__x"))
	require.EqualError(t, err, "tools[1]: \"_21st\" and \"21st\" would both be \"_21st\" to a provider: rename one")

	var none *tool.Set
	assert.Empty(t, none.All())
	assert.Empty(t, none.Names())
	got := tellAll(none.Read(message.Reply{Calls: []message.Call{{Name: "x", Arguments: "{}"}}}, defaults()))
	assert.Equal(t, []string{"call-1  {} unknown_tool [(whole): expected no call, for no tools are offered]"}, got)
	assert.Empty(t, none.Read(message.Reply{Text: "x()"}, defaults()).Calls)

	many := make([]*tool.Tool, 30)
	for n := range many {
		many[n] = raw(fmt.Sprintf("t%d", n))
	}
	big, err := tool.NewSet(many...)
	require.NoError(t, err)
	assert.Contains(t, tellAll(big.Read(message.Reply{Calls: []message.Call{{Name: "x"}}}, tool.Settings{}))[0], "t19 and 10 more")
}

func TestReadAnswer(t *testing.T) {
	typed, err := schema.For[booking]()
	require.NoError(t, err)
	cases := map[string]struct {
		text  string
		set   tool.Settings
		class fault.Class
		want  string
	}{
		"good":           {`{"nights": 2, "city": "Lisbon"}`, tool.Settings{}, "", good + " []"},
		"fenced":         {"Sure:\n```json\n" + good + "\n```\n", tool.Settings{}, "", good + " []"},
		"invalid":        {`{"city": "Lisbon", "nights": 99}`, tool.Settings{}, fault.StructuredOutput, `{"city":"Lisbon","nights":99} [nights: expected at most 30, got integer]`},
		"nothing":        {" \n", tool.Settings{}, fault.NoOutput, " [(whole): expected an answer]"},
		"prose":          {"Lisbon is lovely.", tool.Settings{}, fault.StructuredOutput, " [(whole): expected an object with the members city, nights]"},
		"repaired":       {`{'city': 'Lisbon', 'nights': 2}`, defaults(), "", good + " []"},
		"repair_refused": {`{'city': 'Lisbon', 'nights': 2}`, tool.Settings{}, fault.StructuredOutput, good + " [(whole): expected double quotes around strings and names]"},
		"cut_off":        {`{"city": "Lisbon", "nights": 2`, defaults(), fault.StructuredOutput, " [(whole): expected JSON that is complete: an object with the members city, nights]"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := tool.ReadAnswer(c.text, typed.Schema(), c.set)
			assert.Equal(t, c.class, a.Class)
			assert.Equal(t, c.want, fmt.Sprintf("%s %v", a.Raw, a.Issues))
		})
	}
}

func FuzzRead(f *testing.F) {
	set := hotel(f)
	for _, seed := range []string{good, `{}`, `<tool_call>{"name":"book.room","arguments":` + good + `}</tool_call>`, "book_room(city='x', nights=1)", `{"a":`, "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		replies := []message.Reply{{Text: text}, {Calls: []message.Call{{Name: "book_room", Arguments: text}, {Name: text, Arguments: text}}}}
		for _, r := range replies {
			reading := set.Read(r, tool.Settings{Text: policy.RepairsNote, Native: policy.RepairsNote})
			require.Equal(t, reading, set.Read(r, tool.Settings{Text: policy.RepairsNote, Native: policy.RepairsNote}))
			ids := map[string]bool{}
			for _, c := range reading.Calls {
				require.False(t, ids[c.ID] || c.ID == "")
				ids[c.ID] = true
				require.Equal(t, c.Good(), len(c.Issues) == 0)
				if c.Good() {
					called, ok := set.Get(c.Tool)
					require.True(t, ok)
					require.Empty(t, called.Check(c.Arguments))
				}
			}
		}
	})
}

func TestThePolicyOfOneToolMayDifferInWhatItRepairs(t *testing.T) {
	set := hotel(t)
	repaired := message.Reply{Text: `<tool_call>{"name": "book.room", "arguments": {"city": "Lisbon", "nights": 2,}}</tool_call>`}
	strict := tool.Settings{Text: policy.RepairsNote, Tools: map[string]tool.Settings{"book.room": {Text: policy.RepairsRefuse}}}
	assert.Equal(t, fault.ToolValidation, set.Read(repaired, strict).Calls[0].Class)
	strict.Tools = map[string]tool.Settings{"clock": {Text: policy.RepairsRefuse}}
	assert.True(t, set.Read(repaired, strict).Calls[0].Good())
}

// fussy is a type whose method Issues panics.
type fussy struct {
	City string `json:"city"`
}

var fussyBreaks bool

func (f fussy) Issues() []fault.Issue {
	if fussyBreaks {
		panic("fussy")
	}
	return nil
}

func calls(name, arguments string) message.Reply {
	return message.Reply{Calls: []message.Call{{ID: "c1", Name: name, Arguments: arguments}}}
}

func TestATypeThatPanicsWhileItIsCheckedPanics(t *testing.T) {
	set, err := tool.NewSet(tool.New("fuss", "Fuss.", func(context.Context, fussy) (int, error) { return 1, nil }))
	require.NoError(t, err)
	fussyBreaks = true
	defer func() { fussyBreaks = false }()
	reply := calls("fuss", `{"city":"Lisbon"}`)
	assert.PanicsWithValue(t, "fussy", func() { set.Read(reply, defaults()) })
}

func TestTextThatIsTooLongIsMeasuredAsItCame(t *testing.T) {
	set := hotel(t)
	long := make([]byte, 1<<20)
	for n := range long {
		long[n] = ' '
	}
	text := "{" + string(long) + good[1:]
	assert.Equal(t, fault.RuleSize, set.Read(calls("book.room", text), defaults()).Calls[0].Issues[0].Rule)
}

// A text that cannot be read has one issue: the first in the text as it was written, and not in its canonical
// form.
func TestTheFirstFaultIsThatOfTheText(t *testing.T) {
	anything, err := tool.Raw("anything", "", []byte(`{}`), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	require.NoError(t, err)
	set, err := tool.NewSet(anything, tool.New("numbers", "", func(context.Context, map[string]any) (int, error) { return 0, nil }))
	require.NoError(t, err)
	for _, name := range []string{"anything", "numbers"} {
		for _, reply := range []message.Reply{calls(name, `{"b":1e400,"a":-1e400}`), {Text: name + `({"b":1e400,"a":-1e400})`}} {
			assert.Equal(t, "/b", set.Read(reply, defaults()).Calls[0].Issues[0].Pointer)
		}
	}
}
