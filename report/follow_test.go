package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/report"
)

// said is a timeline without bars and line breaks.
func said(timeline string) []string {
	return strings.Fields(strings.ReplaceAll(timeline, "█", ""))
}

func TestWhatIsFollowedIsWhatIsShown(t *testing.T) {
	text := read(t, "long")
	var out bytes.Buffer
	ended := []bool{}
	in := iotest.HalfReader(bytes.NewReader(text))
	require.NoError(t, report.Follow(&out, in, report.Style{}, func(end bool) error {
		ended = append(ended, end)
		return io.EOF
	}))
	assert.Equal(t, []bool{true}, ended)
	assert.Equal(t, said(show(t, "text", text)), said(out.String()))
}

func TestAHalfWrittenLineIsNoEnd(t *testing.T) {
	text := read(t, "long")
	var out, in bytes.Buffer
	in.Write(text)
	in.WriteString(`{"hash":"`)
	calls := 0
	err := report.Follow(&out, &in, report.Style{}, func(ended bool) error {
		assert.False(t, ended)
		if calls++; calls < 3 {
			in.WriteString("0")
			return nil
		}
		return errBroken
	})
	require.ErrorIs(t, err, errBroken)
	assert.Equal(t, 3, calls)
	assert.Contains(t, out.String(), "  stop  ", "all before it is written")
}

func TestErrorsEndWhatIsFollowed(t *testing.T) {
	text := read(t, "long")
	end := func(bool) error { return io.EOF }
	require.ErrorIs(t, report.Follow(broken{}, bytes.NewReader(text), report.Style{}, end), errBroken)
	require.ErrorIs(t, report.Follow(io.Discard, broken{}, report.Style{}, end), errBroken)
}
