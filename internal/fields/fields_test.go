package fields_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fields"
)

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
	Count *int     `policy:"count,unlimited,least=1"`
	Names []string `policy:"names,words=a|b"`
}

// A struct reads what it writes. Faults name their place, and the other fields are read.
func TestAStructIsReadWrittenAndCheckedByItsTags(t *testing.T) {
	var s settings
	f := fields.Collect()
	fields.Read([]byte(`{"count": "unlimited", "names": ["b", "a"]}`), &s, f)
	require.NoError(t, fields.Err[wrong](f))
	assert.Equal(t, settings{new(fields.Unlimited), []string{"b", "a"}}, s)
	data, err := fields.JSON(&s, nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"count":"unlimited","names":["b","a"]}`, string(data))

	fields.Read([]byte(`{"count": 0, "names": ["b", "other", 1], "cuont": 2, "count": 3}`), &s, f)
	f.Besides(func(f fields.Faults) { fields.Checks{}.Check(&s, f) })
	assert.EqualError(t, fields.Err[wrong](f), `names[1]: "other" is not known; use one of a, b
names[2]: expected one of a, b, got a number "1"
cuont: this key is not known here; did you mean count?
count: this key appears twice; leave one out
count: 0 is too few; write 1 or more, or the word unlimited`)

	var upper settings
	fields.Over(&upper, &s)
	assert.Equal(t, s, upper)
	fields.Over(&upper, &settings{Names: []string{}})
	assert.Equal(t, settings{s.Count, []string{}}, upper)
}

func TestAHundredFaultsAreTold(t *testing.T) {
	f := fields.Collect()
	for n := range 1000 {
		f.Item(n).Add("is wrong")
	}
	lines := strings.Split(fields.Err[wrong](f).Error(), "\n")
	assert.Len(t, lines, 101)
	assert.Equal(t, fields.More, lines[100])
}
