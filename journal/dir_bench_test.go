package journal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

// BenchmarkDirAppend appends a line of 1 KB to a file, without a sync.
func BenchmarkDirAppend(b *testing.B) {
	log, err := journal.Dir(b.TempDir()).Open(b.Context(), "order-42")
	require.NoError(b, err)
	defer log.Close()
	line := make([]byte, 1024)
	line[1023] = '\n'
	b.ReportAllocs()
	var at int64
	for b.Loop() {
		if err := log.Append(b.Context(), at, line, false); err != nil {
			b.Fatal(err)
		}
		at += int64(len(line))
	}
}
