package sealed_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal/sealed"
	"github.com/retake-go/retake/looptest"
)

// A journal of 1,000 lines of 570 bytes is sealed and opened.
func BenchmarkSealed(b *testing.B) {
	k, err := sealed.AES(bytes.Repeat([]byte("k"), sealed.MinKey))
	require.NoError(b, err)
	line := append(bytes.Repeat([]byte("x"), 569), '\n')
	text := bytes.Repeat(line, 1000)
	in := &looptest.Store{}
	s, err := sealed.New(in, k)
	require.NoError(b, err)
	log, err := s.Open(b.Context(), "s")
	require.NoError(b, err)
	require.NoError(b, log.Append(b.Context(), 0, text, false))
	stored := in.Text("s")
	b.Run("Seal", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			require.NoError(b, log.Replace(b.Context(), int64(len(text)), text))
		}
		b.ReportMetric(float64(len(stored))/float64(len(text)), "stored/byte")
	})
	b.Run("Open", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			_, err := io.Copy(io.Discard, sealed.NewReader(bytes.NewReader(stored), k))
			require.NoError(b, err)
		}
	})
}
