package fields_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fields"
)

func TestPlacesCountLinesAndCharacters(t *testing.T) {
	t.Parallel()
	lines := fields.Lines{Data: []byte("é: 1\n\n  ö")}
	for _, c := range []struct {
		offset int
		want   fields.Place
	}{{0, fields.Place{1, 1}}, {2, fields.Place{1, 2}}, {6, fields.Place{2, 1}}, {99, fields.Place{3, 4}}, {2, fields.Place{1, 2}}} {
		assert.Equal(t, c.want, lines.Of(c.offset), "offset %d, in any order", c.offset)
	}
}

// A path names every key on its way. Nested keys of a megabyte each must not make paths of many megabytes.
func TestPathsAreBounded(t *testing.T) {
	t.Parallel()
	path, long := "", strings.Repeat("x", 1<<20)
	for range 30 {
		path = fields.Join(path, long)
	}
	assert.Less(t, len(path), 2<<20)
	assert.Less(t, len(fields.Shown(path)), 1000)
	assert.Equal(t, `a\nb\x1b[31m`, fields.Shown("a\nb\x1b[31m"))
}

type wrong fields.Error

func (w *wrong) Error() string { return fields.Error(*w).String() }

type settings struct {
	Count *int     `policy:"count,count"`
	Names []string `policy:"names,names"`
}

var table = fields.Register[settings](fields.Types{
	"count": fields.Count(1, "count", "1 or more"),
	"names": fields.ListOf(fields.Word("a", "b")),
}, fields.Table{})

// A struct reads what it writes. Faults name their place, and the other fields are read.
func TestARowReadsWritesAndChecks(t *testing.T) {
	t.Parallel()
	var s settings
	require.NoError(t, fields.Err[wrong](fields.ReadJSON([]byte(`{"count": "unlimited", "names": ["b", "a"]}`), &s)))
	assert.Equal(t, settings{new(fields.Unlimited), []string{"b", "a"}}, s)
	data, err := table.JSON(&s)
	require.NoError(t, err)
	assert.JSONEq(t, `{"count":"unlimited","names":["b","a"]}`, string(data))

	err = fields.Err[wrong](fields.ReadJSON([]byte(`{"count": 0, "names": ["b", "other", 1], "cuont": 2}`), &s))
	assert.EqualError(t, err, `names[1]: "other" is not known; use one of a, b
names[2]: expected one of a, b, got a number "1"
cuont: this key is not known here; did you mean count?`)
	f := fields.Collect()
	table.Check(&s, f)
	assert.ErrorContains(t, fields.Err[wrong](f), `count: 0 is no count; write 1 or more, or "unlimited"`)

	var upper settings
	table.Over(&upper, &s)
	assert.Equal(t, s, upper)
	table.Over(&upper, &settings{Names: []string{}})
	assert.Equal(t, settings{s.Count, []string{}}, upper)
}
