package journal_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

// BenchmarkSync measures an append of 1 KB that survives a crash of the process, and one that survives a
// power failure.
func BenchmarkSync(b *testing.B) {
	line := append(bytes.Repeat([]byte("x"), 1023), '\n')
	for _, durable := range []bool{false, true} {
		name := "process"
		if durable {
			name = "power"
		}
		b.Run(name, func(b *testing.B) {
			log, err := journal.Dir(b.TempDir()).Open(b.Context(), "order-42")
			require.NoError(b, err)
			defer log.Close()
			b.ReportAllocs()
			var at int64
			for b.Loop() {
				require.NoError(b, log.Append(b.Context(), at, line, durable))
				at += int64(len(line))
			}
		})
	}
}
