package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

type booking struct {
	City   string `json:"city" validate:"required"`
	Nights int    `json:"nights" validate:"min=1,max=30"`
}

type receipt struct {
	Number int64             `json:"number"`
	Notes  map[string]string `json:"notes,omitempty"`
}

func bookWith(fn func(context.Context, booking) (receipt, error)) *tool.Tool {
	return tool.New("book.room", "Book a hotel room.", fn)
}

const good = `{"city":"Lisbon","nights":2}`

func TestInvoke(t *testing.T) {
	wrong := errors.New("the hotel is closed")
	bare := &fault.ToolValidationError{Tool: "book.room", Issues: []fault.Issue{{Rule: "type"}}}
	issue := fault.Issue{Pointer: "/city", Rule: "served", Expected: "a city we serve", Got: fault.String}
	seen := issue
	seen.Source = fault.FromTool
	cases := map[string]struct {
		args   string
		result receipt
		err    error
		want   tool.Outcome
	}{
		"good":      {args: good, result: receipt{Number: 1 << 60, Notes: map[string]string{"b": "<", "a": "2"}}, want: tool.Outcome{Result: []byte(`{"notes":{"a":"2","b":"<"},"number":1152921504606846976}`)}},
		"bad":       {args: `{"city":"Lisbon","nights":0}`, want: tool.Outcome{Issues: []fault.Issue{{Pointer: "/nights", Rule: "minimum", Expected: "at least 1", Got: fault.Integer, Sent: "0", Source: fault.FromSchema}}}},
		"ask_again": {args: good, err: tool.AskAgain(issue), want: tool.Outcome{Issues: []fault.Issue{seen}}},
		"wrapped":   {args: good, err: fmt.Errorf("booking: %w", tool.AskAgain(issue)), want: tool.Outcome{Issues: []fault.Issue{seen}}},
		"ask_again_without_a_word": {args: good, err: tool.AskAgain(),
			want: tool.Outcome{Issues: []fault.Issue{{Rule: "refused", Expected: "other arguments", Source: fault.FromTool}}}},
		"ask_again_of_ours": {args: good, err: &tool.AskAgainError{},
			want: tool.Outcome{Issues: []fault.Issue{{Rule: "refused", Expected: "other arguments", Source: fault.FromTool}}}},
		"bad_arguments_are_no_word": {args: good, err: bare, want: tool.Outcome{Err: bare}},
		"failed":                    {args: good, err: tool.Fail("no rooms"), want: tool.Outcome{Failed: "no rooms"}},
		"failed_without_a_word":     {args: good, err: tool.Fail(""), want: tool.Outcome{Failed: "the tool failed"}},
		"empty_failure_of_ours":     {args: good, err: &tool.FailedError{}, want: tool.Outcome{Failed: "the tool failed"}},
		"an_error_of_its_own":       {args: good, err: wrong, want: tool.Outcome{Err: wrong}},
		"arguments_are_not_json":    {args: `{`, want: tool.Outcome{Issues: []fault.Issue{{Rule: fault.RuleSyntax, Expected: "JSON that is complete", Source: fault.FromJSON}}}},
		"context_errors_are_kept":   {args: good, err: context.Canceled, want: tool.Outcome{Err: context.Canceled}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := bookWith(func(context.Context, booking) (receipt, error) { return c.result, c.err }).Invoke(context.Background(), []byte(c.args))
			assert.Equal(t, c.want, out)
		})
	}
}

func TestInvokeContainsPanics(t *testing.T) {
	cause := errors.New("index out of reach")
	out := bookWith(func(context.Context, booking) (receipt, error) { panic(cause) }).Invoke(context.Background(), []byte(good))
	var p *fault.PanicError
	require.ErrorAs(t, out.Err, &p)
	assert.ErrorIs(t, out.Err, cause)
	assert.Equal(t, `tool "book.room" panicked: index out of reach`, p.Error())
	assert.NotContains(t, p.Error(), "goroutine")
	assert.Contains(t, p.Stack, "goroutine")
	assert.Nil(t, out.Result)
}

// sly is an error whose method Failure panics.
type sly struct{ error }

func (sly) Failure() fault.Failure { panic("a nil pointer within") }

func TestInvokeContainsErrorsThatPanic(t *testing.T) {
	for _, err := range []error{sly{errors.New("odd")}, fmt.Errorf("booking: %w", sly{errors.New("odd")}), errors.Join((*net.OpError)(nil))} {
		out := bookWith(func(context.Context, booking) (receipt, error) { return receipt{}, err }).Invoke(context.Background(), []byte(good))
		var p *fault.PanicError
		require.ErrorAs(t, out.Err, &p, "%T", err)
		assert.ErrorContains(t, p, "nil pointer")
	}
}

// What a tool says counts, although an error beside it panics.
func TestWhatAToolSaysIsTakenBesideErrorsThatPanic(t *testing.T) {
	odd := sly{errors.New("odd")}
	end := func(err error) tool.Outcome {
		return bookWith(func(context.Context, booking) (receipt, error) { return receipt{}, err }).Invoke(context.Background(), []byte(good))
	}
	assert.Equal(t, "no rooms", end(errors.Join(tool.Fail("no rooms"), odd)).Failed)
	assert.Len(t, end(errors.Join(tool.AskAgain(fault.Issue{Rule: "refused"}), odd)).Issues, 1)
}

// endless is an error whose method Error panics with the error itself.
type endless struct{}

func (e endless) Error() string { panic(e) }

func TestInvokeContainsPanicsOfErrorsThatPanic(t *testing.T) {
	for _, err := range []error{sly{errors.New("odd")}, endless{}, fmt.Errorf("booking: %w", sly{errors.New("odd")}), errors.Join((*net.OpError)(nil))} {
		for name, end := range map[string]func(context.Context, booking) (receipt, error){
			"panics":  func(context.Context, booking) (receipt, error) { panic(err) },
			"returns": func(context.Context, booking) (receipt, error) { return receipt{}, err },
		} {
			out := bookWith(end).Invoke(context.Background(), []byte(good))
			require.NotPanics(t, func() {
				assert.Equal(t, fault.Unknown, fault.ClassifyError(out.Err).Class, "%s %T", name, err)
				assert.Contains(t, out.Err.Error(), `tool "book.room" panicked: `)
				_, other := errors.AsType[interface {
					error
					Failure() fault.Failure
				}](out.Err)
				assert.False(t, other, "%s %T", name, err)
			}, "%s %T", name, err)
		}
	}
}

func TestANilPointerThatAToolReturnsAsAnErrorIsNamed(t *testing.T) {
	for _, err := range []error{(*fault.ProviderError)(nil), (*tool.FailedError)(nil), (*fault.ToolValidationError)(nil), (*net.OpError)(nil)} {
		out := bookWith(func(context.Context, booking) (receipt, error) { return receipt{}, err }).Invoke(context.Background(), []byte(good))
		require.EqualError(t, out.Err, fmt.Sprintf("the error is a nil %T: return nil itself, which has no type, if there is none", err))
	}
}

func TestResultsMustHaveAJSONForm(t *testing.T) {
	bad := tool.New("bad", "", func(context.Context, struct{}) (float64, error) { var zero float64; return 1 / zero, nil })
	out := bad.Invoke(context.Background(), []byte(`{}`))
	assert.ErrorContains(t, out.Cause(), "no JSON form")
	assert.Equal(t, "the call has run, but its result cannot be shown", out.Failed, "the model is told that it ran")
	assert.NoError(t, out.Err)
	assert.False(t, out.InDoubt)
	raw, err := tool.Raw("raw", "", []byte(`{}`), func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"b":1, "a":2}`), nil
	})
	require.NoError(t, err)
	assert.Equal(t, `{"a":2,"b":1}`, string(raw.Invoke(context.Background(), []byte(`{}`)).Result))
	raw, err = tool.Raw("raw", "", []byte(`{}`), func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage(`{`), nil })
	require.NoError(t, err)
	out = raw.Invoke(context.Background(), []byte(`{}`))
	assert.ErrorContains(t, out.Cause(), "not JSON")
	assert.Equal(t, "the call has run, but its result cannot be shown", out.Failed)
	raw, err = tool.Raw("raw", "", []byte(`{}`), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	require.NoError(t, err)
	assert.Equal(t, `null`, string(raw.Invoke(context.Background(), []byte(`{}`)).Result))
}

func TestEventsAndProgress(t *testing.T) {
	var reported []string
	var leaked context.Context
	book := bookWith(func(ctx context.Context, b booking) (receipt, error) {
		leaked = ctx
		assert.Equal(t, "key-1", tool.IdempotencyKey(ctx))
		assert.Equal(t, "call-7", tool.CallID(ctx))
		require.NoError(t, tool.Emit(ctx, "booked", b))
		require.NoError(t, tool.Progress(ctx, 0.5))
		require.NoError(t, tool.Emit(ctx, "paid", map[string]int{"b": 1, "a": 2}))
		require.NoError(t, tool.Progress(ctx, map[string]string{"stage": "done"}))
		require.Error(t, tool.Emit(ctx, "", 1))
		require.Error(t, tool.Emit(ctx, "bad", make(chan int)))
		if b.Nights == 3 {
			return receipt{}, tool.Fail("no")
		}
		return receipt{}, nil
	})
	ctx := tool.WithInvocation(context.Background(), tool.Invocation{Key: "key-1", CallID: "call-7", Report: func(p []byte) { reported = append(reported, string(p)) }})
	out := book.Invoke(ctx, []byte(good))
	require.NoError(t, out.Err)
	assert.Equal(t, []reducer.Event{{Name: "booked", Payload: []byte(good)}, {Name: "paid", Payload: []byte(`{"a":2,"b":1}`)}}, out.Events)
	assert.Equal(t, []string{`0.5`, `{"stage":"done"}`}, reported)
	assert.Equal(t, `{"stage":"done"}`, string(out.Progress))

	over := tool.Emit(leaked, "late", 1)
	assert.ErrorIs(t, over, tool.ErrNotInCall)
	assert.EqualError(t, over, "not in a tool call: it is over")
	assert.Equal(t, over, tool.Progress(leaked, 1))
	assert.ErrorIs(t, tool.Emit(context.Background(), "nowhere", 1), tool.ErrNotInCall)
	try, spent := tool.Metered(t.Context())
	require.NoError(t, tool.AddUsage(try, message.Usage{InputTokens: 1}))
	assert.Equal(t, int64(1), spent().InputTokens)
	assert.ErrorIs(t, tool.AddUsage(try, message.Usage{InputTokens: 1}), tool.ErrNotInCall)
	assert.ErrorIs(t, tool.Progress(context.Background(), 1), tool.ErrNotInCall)
	assert.Len(t, reported, 2)

	out = book.Invoke(ctx, []byte(`{"city":"Lisbon","nights":3}`))
	assert.Equal(t, "no", out.Failed)
	assert.Empty(t, out.Events, "a failed call's events are dropped")
}

func TestEmitFromManyGoroutines(t *testing.T) {
	busy := tool.New("busy", "", func(ctx context.Context, _ struct{}) (int, error) {
		var wg sync.WaitGroup
		for n := range 50 {
			wg.Go(func() {
				_ = tool.Emit(ctx, "event", n)
				_ = tool.Progress(ctx, n)
			})
		}
		wg.Wait()
		return 0, nil
	})
	count := 0
	ctx := tool.WithInvocation(context.Background(), tool.Invocation{Report: func([]byte) { count++ }})
	out := busy.Invoke(ctx, []byte(`{}`))
	assert.Len(t, out.Events, 50)
	assert.Equal(t, 50, count)
}

func TestEachInvocationGetsAFreshValue(t *testing.T) {
	type args struct {
		Tags []string `json:"tags,omitempty"`
	}
	var last []string
	tag := tool.New("tag", "", func(_ context.Context, a args) (int, error) {
		defer func() {
			for n := range a.Tags {
				a.Tags[n] = "overwritten"
			}
		}()
		last = append([]string(nil), a.Tags...)
		return len(a.Tags), nil
	})
	doc := []byte(`{"tags":["a","b"]}`)
	for range 3 {
		tag.Invoke(context.Background(), doc)
		assert.Equal(t, []string{"a", "b"}, last)
	}
	assert.Equal(t, 0, func() int { tag.Invoke(context.Background(), []byte(`{}`)); return len(last) }())
}

func TestNewRefusesMistakes(t *testing.T) {
	fn := func(context.Context, booking) (int, error) { return 0, nil }
	cases := map[string]struct {
		make func()
		want string
	}{
		"no_name":     {func() { tool.New("", "", fn) }, "1 to 128 of the characters"},
		"odd_name":    {func() { tool.New("a b", "", fn) }, `tool name "a b"`},
		"long_name":   {func() { tool.New(strings.Repeat("a", 129), "", fn) }, "1 to 128"},
		"nil":         {func() { tool.New[booking, int]("a", "", nil) }, "the function is nil"},
		"nil_option":  {func() { tool.New("a", "", fn, tool.ReadOnly(), nil) }, "option 2 is nil: leave it out"},
		"pointer":     {func() { tool.New("a", "", func(context.Context, *booking) (int, error) { return 0, nil }) }, "map with string keys, not *tool_test.booking: take tool_test.booking"},
		"scalar":      {func() { tool.New("a", "", func(context.Context, int) (int, error) { return 0, nil }) }, "must be a struct or a map with string keys, not int"},
		"integer_map": {func() { tool.New("a", "", func(context.Context, map[int]int) (int, error) { return 0, nil }) }, "map keys must be strings"},
		"bad_field":   {func() { tool.New("a", "", func(context.Context, struct{ C chan int }) (int, error) { return 0, nil }) }, "C: a chan int cannot"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() { assert.Contains(t, recover(), c.want) }()
			c.make()
		})
	}
}

func TestASetRefusesToolsThatNobodyMade(t *testing.T) {
	_, err := tool.NewSet(nil, new(tool.Tool))
	require.EqualError(t, err, "tools[0]: is nil\ntools[1]: is the zero value: make it with New or Raw")
}

func TestRawRefusesMistakes(t *testing.T) {
	fn := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	_, err := tool.Raw("a b", "", []byte(`{}`), fn)
	require.ErrorContains(t, err, "1 to 128")
	_, err = tool.Raw("a", "", []byte(`{"type":"objekt"}`), fn)
	require.ErrorContains(t, err, `tool "a": parameters: schema: type: expected one of`)
	_, err = tool.Raw("a", "", nil, fn)
	require.EqualError(t, err, `tool "a": parameters: are empty: give a JSON Schema, such as {"type": "object"}`)
	_, err = tool.Raw("a", "", []byte(`true`), fn)
	require.ErrorContains(t, err, "must be a JSON Schema object")
	_, err = tool.Raw("a", "", []byte(`{"type":"string"}`), fn)
	require.EqualError(t, err, `tool "a": parameters: type: must be "object", for arguments are an object`)
	_, err = tool.Raw("a", "", []byte(`{"type":["null","object"]}`), fn)
	require.NoError(t, err)
	_, err = tool.Raw("a", "", []byte(`{}`), nil)
	require.ErrorContains(t, err, "the function is nil")
}

func TestWithLimits(t *testing.T) {
	book := bookWith(func(context.Context, booking) (receipt, error) { return receipt{}, nil })
	tight, err := book.WithLimits(schema.Limits{MaxBytes: 10, MaxDepth: 2, MaxValues: 100})
	require.NoError(t, err)
	assert.Equal(t, fault.RuleSize, tight.Check([]byte(good))[0].Rule)
	assert.Equal(t, fault.RuleSize, tight.Invoke(context.Background(), []byte(good)).Issues[0].Rule)
	assert.Empty(t, book.Check([]byte(good)))
	_, err = book.WithLimits(schema.Limits{})
	require.ErrorContains(t, err, "MaxBytes: 0, want 2 to")
}

func TestAToolMaySayThatItReturnsObjects(t *testing.T) {
	type object struct{ N int }
	type at struct{ time.Time }
	returns := func(made *tool.Tool) bool { return made.ReturnsObject() }
	assert.True(t, returns(tool.New("a", "", func(context.Context, struct{}) (object, error) { return object{}, nil })))
	assert.False(t, returns(tool.New("a", "", func(context.Context, struct{}) (*object, error) { return nil, nil })))
	assert.False(t, returns(tool.New("a", "", func(context.Context, struct{}) (at, error) { return at{}, nil })))
	assert.False(t, returns(tool.New("a", "", func(context.Context, struct{}) (any, error) { return object{}, nil })))
	assert.False(t, returns(tool.New("a", "", func(context.Context, struct{}) (map[string]int, error) { return nil, nil })))
}
