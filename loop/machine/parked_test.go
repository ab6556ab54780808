package machine

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/seq"
	"github.com/retake-go/retake/session"
)

// TestAStateIsParkedWhole sets each field of a state alone: one that is forgotten fails here.
func TestAStateIsParkedWhole(t *testing.T) {
	for n := range reflect.TypeFor[State]().NumField() {
		field := reflect.TypeFor[State]().Field(n)
		var st State
		v := reflect.ValueOf(&st).Elem().Field(n)
		switch {
		case field.Name == "Session":
			st.Session = st.Session.AddAttempt(session.Attempt{Attempt: 1})
		case field.Name == "Transcript":
			st.Transcript = seq.Of(message.Message{Text: "x"})
		case field.Name == "Spent":
			st.Spent.Unknown = 1
		case field.Name == "At":
			st.At = time.Unix(1, 2).UTC()
		case field.Name == "Owed":
			st.Owed.APICalls = 1
		case field.Name == "Usage":
			st.Usage.APICalls = 1
		case field.Name == "words":
			st.words = &words{}
		case field.Name == "policies":
			st.policies = &policies{}
		case v.Kind() == reflect.Pointer:
			v.Set(reflect.New(field.Type.Elem()))
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(field.Type, 1, 1))
		case v.Kind() == reflect.String:
			v.SetString("x")
		default:
			v.SetInt(1)
		}
		assert.False(t, reflect.ValueOf(st).Field(n).IsZero(), field.Name)
		back := Park(&st).State(st.Session)
		assert.Equal(t, st.Transcript.Slice(0, st.Transcript.Len()), back.Transcript.Slice(0, back.Transcript.Len()))
		st.Transcript, back.Transcript = message.Transcript{}, message.Transcript{}
		require.Equal(t, st, back, field.Name)
	}
}

func TestWhatIsPendingIsTheWait(t *testing.T) {
	w := &Wait{Reason: policy.Backoff}
	assert.Equal(t, Effect{Kind: WaitUntil, Wait: w}, (&State{Phase: Waiting, Next: NextTurn, Resume: w}).Pending())
	assert.Empty(t, (&State{Phase: Calling, Resume: w}).Pending())
}

// Each field of a message is set alone: one that is forgotten fails here.
func TestATranscriptIsParkedWhole(t *testing.T) {
	hello := message.Message{Role: message.User, Text: "Hello."}
	for n := range reflect.TypeFor[message.Message]().NumField() {
		var m message.Message
		switch v := reflect.ValueOf(&m).Elem().Field(n); v.Kind() {
		case reflect.Slice:
			m.Calls = []message.Call{{ID: "c1", Name: "book", Arguments: "{}"}}
		case reflect.Bool:
			v.SetBool(true)
		default:
			v.SetString("x")
		}
		said := []message.Message{hello, m, {}, {Role: message.Assistant, Text: "Hello, too."}}
		requireParked(t, said, reflect.TypeFor[message.Message]().Field(n).Name)
	}
	requireParked(t, slices.Repeat([]message.Message{hello}, maxTalk), "a talk")
	requireParked(t, slices.Repeat([]message.Message{hello}, maxTalk+1), "a long one")
}

func requireParked(t *testing.T, said []message.Message, name string) {
	st := State{Transcript: seq.Of(said...)}
	back := Park(&st).State(st.Session).Transcript
	require.Equal(t, said, back.Slice(0, back.Len()), name)
	back.Append(message.Message{Text: "more"})
	require.Equal(t, said, back.Slice(0, back.Len()), name)
}

// A config that differs in seed and deadline alone is not kept for each run, where it can be made again as it was.
func TestADerivedConfigIsNotParked(t *testing.T) {
	cfg := Config{Limits: feedback.DefaultLimits(), Policy: policy.DefaultSet()}
	c, err := Compile(&cfg, nil)
	require.NoError(t, err)
	at := time.Date(2026, 7, 1, 8, 30, 0, 5, time.UTC)
	for name, of := range map[string]*Compiled{
		"seed": c.Seeded("x"), "deadline": c.Until(at), "both": c.Until(at.Add(1)).Seeded("x").Until(at), "neither": c,
	} {
		st := of.New(session.State{})
		parked := Park(&st)
		require.Same(t, c.cfg, parked.compiled.cfg, name)
		back := parked.State(st.Session)
		require.Equal(t, st, back, name)
		require.Same(t, back.Policy, &back.Config.Policy, name)
	}
	elsewhere := c.Until(at.In(time.FixedZone("CEST", 7200)))
	st := elsewhere.New(session.State{})
	require.Same(t, elsewhere.cfg, Park(&st).compiled.cfg, "UTC would be another config")
	st.Config = new(*c.cfg)
	require.Same(t, st.Config, Park(&st).compiled.cfg, "it is that of somebody else")
}
