package machine

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			st.At = time.Unix(1, 0)
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
	assert.Equal(t, Effect{Kind: WaitUntil, Wait: w}, (&State{Phase: Waiting, Next: nextTurn, Resume: w}).Pending())
	assert.Empty(t, (&State{Phase: Calling, Resume: w}).Pending())
}
