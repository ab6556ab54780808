package object_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/object"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want []object.Member
	}{
		{`{}`, nil},
		{` {"a" : 1 , "b":{"c":[null]}}`, []object.Member{{Name: "a", Value: []byte(`1`)}, {Name: "b", Value: []byte(`{"c":[null]}`)}}},
		{`{"a":1,"A":2,"\u0061":{"x":1,"x":2}}`, []object.Member{
			{Name: "a", Value: []byte(`1`)}, {Name: "A", Value: []byte(`2`)}, {Name: "a", Value: []byte(`{"x":1,"x":2}`), Twice: true},
		}},
	} {
		got, problem := object.Members([]byte(c.text))
		assert.Empty(t, problem, c.text)
		assert.Equal(t, c.want, got, c.text)
	}
}

func TestWhatIsNoObject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                 "want a JSON object, got no JSON",
		`{"a":1`:           "want a JSON object, got no JSON",
		`{} {}`:            "want a JSON object, got no JSON",
		"{\"a\":\"\xff\"}": "want a JSON object, got no JSON",
		`null`:             "want a JSON object, got null",
		` [1]`:             "want a JSON object, got an array",
		`"a"`:              "want a JSON object, got a string",
		`true`:             "want a JSON object, got a boolean",
		`-1`:               "want a JSON object, got a number",
	} {
		got, problem := object.Members([]byte(text))
		assert.Equal(t, want, problem, text)
		assert.Nil(t, got, text)
	}
	assert.Equal(t, "nothing", object.Kind([]byte(" \n")))
}

// The members are those that the library reads.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{``, `{}`, `{"a":1}`, `{"a":{"a":1},"b":[2]}`, `{"a":1,"a":2}`, "{\"\xff\":1}", `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, problem := object.Members(data)
		if problem != "" {
			require.Nil(t, got)
			return
		}
		var want map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(data, &want))
		last := map[string]json.RawMessage{}
		for _, m := range got {
			_, before := last[m.Name]
			require.Equal(t, before, m.Twice)
			last[m.Name] = m.Value
		}
		require.Len(t, last, len(want))
		for name, value := range want {
			require.Equal(t, string(value), string(last[name]))
		}
	})
}
