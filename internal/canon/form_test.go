package canon_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/canon"
)

// member is a member of an object without nesting: the offsets of its name, and of the end of its value.
type member struct{ from, to, end int }

// formOf is the form of such an object, told of its members and spaces.
func formOf(text string, members []member, spaces [][2]int) ([]byte, bool) {
	f := canon.FormOf(text)
	first, space := f.Open(), 0
	for _, m := range members {
		for ; space < len(spaces) && spaces[space][0] < m.from; space++ {
			f.Skip(spaces[space][0], spaces[space][1])
		}
		f.Name(m.from, m.to)
		f.Value(m.end)
	}
	f.Close(first, len(text))
	return f.End()
}

func TestForm(t *testing.T) {
	form, ok := formOf(`{ "b":1,"a":[2]}`, []member{{2, 5, 7}, {8, 11, 15}}, [][2]int{{1, 2}})
	require.True(t, ok)
	assert.Equal(t, `{"a":[2],"b":1}`, string(form))
	for name, text := range map[string]string{"one name twice": `{"a":1,"a":[2]}`, "an escape": `{"\\":1,"a":2}`, "not ASCII": `{"é":1,"a":2}`} {
		_, ok := formOf(text, []member{{1, strings.IndexByte(text, ':'), 6}, {7, 10, 12}}, nil)
		assert.False(t, ok, name)
	}
}

func TestFormSaysStringsAnew(t *testing.T) {
	f := canon.FormOf(`["\u0061\/","b"]`)
	f.Say(1, 11, "a/")
	form, ok := f.End()
	require.True(t, ok)
	assert.Equal(t, `["a/","b"]`, string(form))
}

func TestNoFormTakesNoNotice(t *testing.T) {
	var f *canon.Form
	f.Skip(0, 1)
	f.Say(0, 1, "a")
	f.Name(0, 1)
	f.Value(1)
	f.Close(f.Open(), 1)
}
