package tool_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/tool"
)

type none struct{}

// refused is the text of the panic of New for a tool with a result of type R; empty if it is accepted.
func refused[R any]() (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	tool.New("t", "", func(context.Context, none) (r R, err error) { return r, nil })
	return ""
}

// ran reports whether a value can be the result of a tool whose type says nothing of it.
func ran(value any) bool {
	t := tool.New("t", "", func(context.Context, none) (any, error) { return value, nil })
	out := t.Invoke(context.Background(), []byte("{}"))
	return out.Cause() == nil
}

type point struct{ X, Y int }

type key struct{ n int }

func (k key) MarshalText() ([]byte, error) { return fmt.Append(nil, k.n), nil }

type reads struct{ N int }

func (*reads) UnmarshalJSON([]byte) error { return errors.New("it reads nothing") }

type node struct {
	Name string
	Next *node
}

// A result that can never be written is refused when the tool is made, by its type and place.
func TestAResultWithoutAJSONFormIsRefused(t *testing.T) {
	type watch struct {
		Name string
		Done chan int
	}
	type deep struct {
		Watches []map[string]*watch
	}
	const way = ", which has no JSON form: leave it out (`json:\"-\"`), or give its type a method MarshalJSON"
	for _, c := range []struct {
		got, want string
		value     any
	}{
		{refused[chan int](), "chan int is of type chan int" + way, make(chan int)},
		{refused[func()](), "func() is of type func()" + way, func() {}},
		{refused[complex128](), "complex128 is of type complex128" + way, 1i},
		{refused[watch](), "tool_test.watch.Done is of type chan int" + way, watch{Done: make(chan int)}},
		{
			refused[struct{ Lock sync.Mutex }](), "struct { Lock sync.Mutex }.Lock is of type sync.Mutex, which has no JSON form " +
				"(Go struct has no exported fields)" + way[len(", which has no JSON form"):], struct{ Lock *sync.Mutex }{new(sync.Mutex)},
		},
		{refused[deep](), "tool_test.deep.Watches.Done is of type chan int" + way, deep{[]map[string]*watch{{"a": {}}}}},
		{
			refused[map[point]int](), "map[tool_test.point]int is of type map[tool_test.point]int, whose keys are no names of JSON members: " +
				"use strings or whole numbers, or give tool_test.point a method MarshalText", map[point]int{{1, 2}: 3},
		},
		{refused[map[bool]int](), "map[bool]int is of type map[bool]int, whose keys are no names of JSON members: " +
			"use strings or whole numbers, or give bool a method MarshalText", map[bool]int{true: 1}},
		{refused[map[float64]int](), "map[float64]int is of type map[float64]int, whose keys are no names of JSON members: " +
			"use strings or whole numbers, or give float64 a method MarshalText", map[float64]int{math.NaN(): 1}},
	} {
		assert.Equal(t, `tool.New("t"): the result: `+c.want, c.got)
		assert.False(t, ran(c.value), "it has no JSON form: %T", c.value)
	}
}

func TestAResultWithAJSONFormIsAccepted(t *testing.T) {
	type hidden struct {
		Name string
		Done chan int       `json:"-"`
		Call func() error   `json:",omitzero"`
		Any  any            `json:"any"`
		At   time.Time      `json:"at"`
		Ages map[int]string `json:"ages"`
		skip chan int
		None struct{}
		Anon struct {
			out chan int `json:"-"`
		}
		Read reads
		Link *url.URL
	}
	for text, value := range map[string]any{
		refused[hidden]():      hidden{skip: nil},
		refused[map[key]int](): map[key]int{{1}: 2},
		refused[*node]():       &node{Next: &node{}},
		refused[any]():         nil,
		refused[error]():       nil,
		refused[[]byte]():      []byte("a"),
	} {
		require.Empty(t, text)
		assert.True(t, ran(value), "%T", value)
	}
}

// A value that contains itself is found when it is written: its type says nothing of it.
func TestAResultThatContainsItselfIsAnError(t *testing.T) {
	ring := &node{Name: "ring"}
	ring.Next = ring
	made := tool.New("ring", "", func(context.Context, none) (*node, error) { return ring, nil })
	out := made.Invoke(t.Context(), []byte("{}"))
	require.ErrorContains(t, out.Cause(), "the result has no JSON form")
}

// Text that is not UTF-8, such as the output of a program, is no reason to lose the result of a call that has
// run.
func TestAResultOfAnyBytesIsAResult(t *testing.T) {
	type page struct {
		Name  string            `json:"name"`
		Heads map[string]string `json:"heads"`
	}
	for want, made := range map[string]*tool.Tool{
		`"caf�"`: tool.New("a", "", func(context.Context, struct{}) (string, error) { return "caf\xe9", nil }),
		`{"heads":{"�":"x"},"name":"�"}`: tool.New("a", "", func(context.Context, struct{}) (page, error) {
			return page{"\xff", map[string]string{"\xe9": "x"}}, nil
		}),
	} {
		out := made.Invoke(t.Context(), []byte(`{}`))
		require.NoError(t, out.Err)
		require.Equal(t, want, string(out.Result))
	}
	twice := tool.New("a", "", func(context.Context, struct{}) (any, error) {
		return map[string]int{"\xff": 1, "\xfe": 2}, nil
	})
	out := twice.Invoke(t.Context(), []byte(`{}`))
	require.ErrorContains(t, out.Cause(), "the result has no JSON form")
}
