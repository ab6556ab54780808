package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// trip says how often one was read, and is bad, or breaks, where it is told to.
type trip struct {
	Stops stops          `json:"stops"`
	Notes map[string]int `json:"notes"`
}

type stops []string

var tripsRead int

func (s *stops) UnmarshalJSON(raw []byte) error {
	tripsRead++
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("no stop")
	}
	*s = list
	return nil
}

// fussy is a type with a say of its own, which breaks.
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

func TestWhatACheckHasMadeIsTakenOnce(t *testing.T) {
	var got []*trip
	plan := tool.New("plan", "Plan.", func(_ context.Context, a trip) (int, error) {
		got = append(got, &a)
		a.Notes["seen"], a.Stops[0] = 1, "changed"
		return len(a.Notes), nil
	})
	set, err := tool.NewSet(plan)
	require.NoError(t, err)
	reading, ready := set.Prepare(calls("plan", `{"stops": ["Lisbon"], "notes": {}}`), tool.DefaultSettings())
	require.Len(t, ready, 1)
	args := reading.Calls[0].Arguments
	before := tripsRead
	first := plan.InvokeReady(t.Context(), ready[0], args)
	assert.Equal(t, before, tripsRead, "it is not read again")
	again := plan.InvokeReady(t.Context(), ready[0], args)
	assert.Greater(t, tripsRead, before)
	assert.Equal(t, tool.Outcome{Result: []byte("1")}, first)
	assert.Equal(t, first, again, "each call has a value of its own")
	require.Len(t, got, 2)
	assert.Equal(t, plan.Invoke(t.Context(), args), first)
}

func TestOfOtherArgumentsAndToolsNothingIsTaken(t *testing.T) {
	set := hotel(t)
	book, _ := set.Get("book.room")
	_, ready := set.Prepare(calls("book.room", good), tool.DefaultSettings())
	other := []byte(`{"city":"Porto","nights":0}`)
	assert.Equal(t, book.Invoke(t.Context(), other), book.InvokeReady(t.Context(), ready[0], other))
	clock, _ := set.Get("clock")
	assert.Equal(t, clock.Invoke(t.Context(), []byte(good)), clock.InvokeReady(t.Context(), ready[0], []byte(good)))
	assert.Equal(t, book.Invoke(t.Context(), []byte(good)), book.InvokeReady(t.Context(), nil, []byte(good)))
	assert.Empty(t, book.InvokeReady(t.Context(), ready[0], []byte(good)).Issues, "it is still there")
}

func TestOnlyGoodCallsAreReady(t *testing.T) {
	set := hotel(t)
	reading, ready := set.Prepare(message.Reply{Calls: []message.Call{
		{Name: "book.room", Arguments: `{}`}, {Name: "book.room", Arguments: good}, {Name: "no.such", Arguments: good},
	}}, tool.DefaultSettings())
	require.Len(t, reading.Calls, 3)
	require.Len(t, ready, 3)
	for n, c := range reading.Calls {
		assert.Equal(t, c.Good(), ready[n] != nil, n)
	}
	_, ready = set.Prepare(calls("book.room", `{}`), tool.DefaultSettings())
	assert.Empty(t, ready)
	_, ready = set.Prepare(message.Reply{Text: "Nothing."}, tool.DefaultSettings())
	assert.Empty(t, ready)
}

func TestReadingInRoom(t *testing.T) {
	set := hotel(t)
	two := message.Reply{Calls: []message.Call{{ID: "a", Name: "book.room", Arguments: good}, {ID: "b", Name: "no.such", Arguments: "{}"}}}
	var room tool.Reading
	inRoom := 0
	for _, reply := range []message.Reply{two, calls("book.room", `{}`), two, {Text: "Nothing."}, {Text: "book.room(" + good + ")"}, two} {
		reading, ready := set.PrepareIn(room, reply, tool.DefaultSettings())
		want, made := set.Prepare(reply, tool.DefaultSettings())
		assert.Equal(t, want, reading)
		assert.Len(t, ready, len(made))
		if n := len(reading.Calls); n > 0 && cap(room.Calls) >= n {
			assert.Same(t, &room.Calls[:1][0], &reading.Calls[0])
			inRoom++
		}
		room = reading
	}
	assert.Equal(t, 2, inRoom)
}

func TestAReadyCallMayBeTakenByOneOfMany(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	plan := tool.New("plan", "Plan.", func(_ context.Context, a map[string]map[string]int) (int, error) {
		a["x"]["own"]++ // the race detector tells of a value that is shared
		mu.Lock()
		defer mu.Unlock()
		seen["x"] += a["x"]["own"]
		return 0, nil
	})
	set, err := tool.NewSet(plan)
	require.NoError(t, err)
	reading, ready := set.Prepare(calls("plan", `{"x":{}}`), tool.DefaultSettings())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { plan.InvokeReady(t.Context(), ready[0], reading.Calls[0].Arguments) })
	}
	all.Wait()
	assert.Equal(t, 8, seen["x"])
}

func TestATypeThatBreaksWhileItIsCheckedBreaksAsBefore(t *testing.T) {
	set, err := tool.NewSet(tool.New("fuss", "Fuss.", func(context.Context, fussy) (int, error) { return 1, nil }))
	require.NoError(t, err)
	fussyBreaks = true
	defer func() { fussyBreaks = false }()
	reply := calls("fuss", `{"city":"Lisbon"}`)
	assert.PanicsWithValue(t, "fussy", func() { set.Read(reply, tool.DefaultSettings()) })
	assert.PanicsWithValue(t, "fussy", func() { set.Prepare(reply, tool.DefaultSettings()) })
}

func TestTextThatIsTooLongIsMeasuredAsItCame(t *testing.T) {
	set := hotel(t)
	long := make([]byte, 1<<20)
	for n := range long {
		long[n] = ' '
	}
	text := "{" + string(long) + good[1:]
	reading, ready := set.Prepare(calls("book.room", text), tool.DefaultSettings())
	assert.Equal(t, set.Read(calls("book.room", text), tool.DefaultSettings()), reading)
	assert.Equal(t, fault.RuleSize, reading.Calls[0].Issues[0].Rule)
	assert.Empty(t, ready)
}

// Of a text that cannot be read the first fault is told: that which comes first in the text, and not in its canonical form.
func TestTheFirstFaultIsThatOfTheText(t *testing.T) {
	anything, err := tool.Raw("anything", "", []byte(`{}`), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	require.NoError(t, err)
	set, err := tool.NewSet(anything, tool.New("numbers", "", func(context.Context, map[string]any) (int, error) { return 0, nil }))
	require.NoError(t, err)
	for _, name := range []string{"anything", "numbers"} {
		for _, reply := range []message.Reply{calls(name, `{"b":1e400,"a":-1e400}`), {Text: name + `({"b":1e400,"a":-1e400})`}} {
			reading, ready := set.Prepare(reply, tool.DefaultSettings())
			assert.Equal(t, set.Read(reply, tool.DefaultSettings()), reading)
			assert.Equal(t, "/b", reading.Calls[0].Issues[0].Pointer)
			assert.Empty(t, ready)
		}
	}
}
