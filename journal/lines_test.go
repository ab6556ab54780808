package journal

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A text gives the same lines however it is read.
func TestLinesAreReadWhole(t *testing.T) {
	readers := []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
	}
	rapid.Check(t, func(t *rapid.T) {
		var text bytes.Buffer
		for _, n := range rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(readRoom-2, readRoom+2), rapid.Just(2*readRoom)), 0, 4).Draw(t, "lengths") {
			text.WriteString(strings.Repeat("x", n) + "\n")
		}
		text.WriteString(rapid.SampledFrom([]string{"", "torn"}).Draw(t, "rest"))
		in := newLineReader(rapid.SampledFrom(readers).Draw(t, "reader")(bytes.NewReader(text.Bytes())))
		for want := range bytes.Lines(text.Bytes()) {
			got, err := in.next(MaxLineBytes)
			require.True(t, bytes.Equal(want, got))
			require.Equal(t, got[len(got)-1] != '\n', errors.Is(err, io.EOF))
		}
		rest, err := in.next(MaxLineBytes)
		require.Empty(t, rest)
		require.ErrorIs(t, err, io.EOF)
	})
}

func TestWhatALongLineNeededIsLetGo(t *testing.T) {
	in := newLineReader(strings.NewReader(strings.Repeat("x", 3*keptRoom) + "\nshort\n"))
	line, err := in.next(MaxLineBytes)
	require.NoError(t, err)
	require.Len(t, line, 3*keptRoom+1)
	for err == nil {
		line, err = in.next(MaxLineBytes)
	}
	require.Empty(t, line)
	require.Zero(t, cap(in.line))
}

func TestLineThatIsTooLongIsNotReadToItsEnd(t *testing.T) {
	in := newLineReader(strings.NewReader("short\n" + strings.Repeat("x", 1<<20)))
	line, err := in.next(100)
	require.NoError(t, err)
	require.Equal(t, "short\n", string(line))
	line, err = in.next(100)
	require.NoError(t, err)
	require.LessOrEqual(t, len(line), readRoom)
}

func TestReaderThatGivesNothingIsAnError(t *testing.T) {
	in := newLineReader(iotest.ErrReader(nil))
	_, err := in.next(100)
	require.ErrorIs(t, err, io.ErrNoProgress)
}
