package console_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/report/console"
	"github.com/retake-go/retake/tool"
)

// BenchmarkFirstScan reads stores of sessions that nobody has read yet. Dense ones have many small lines and
// the beginnings of others; those of texts have prompts and results of 4 KB. "again" looks once more, with
// nothing new. Beside it the same bytes are read line by line as JSON, and nothing is made of them.
func BenchmarkFirstScan(b *testing.B) {
	for _, n := range []int{250, 500, 1_000} {
		dir := b.TempDir()
		for at := range n {
			id, lines := fmt.Sprintf("%05d", at), -1
			if at%2 > 0 {
				lines = 4 + at%8
			}
			put(b, dir, id+".jsonl", named(b, id, lines))
		}
		scans(b, fmt.Sprint("dense/", n), dir)
	}
	dir := b.TempDir()
	text := strings.Repeat("Three rooms are free, and two of them have a view. ", 80)
	look := tool.New("look", "Looks.", func(context.Context, struct{}) (string, error) { return text, nil }, tool.ReadOnly())
	for at := range 250 {
		var turns []looptest.Turn
		for range 6 {
			turns = append(turns, looptest.Call(message.Call{Name: "look", Arguments: "{}"}))
		}
		run(b, journal.Dir(dir), fmt.Sprintf("%05d", at), text, []*tool.Tool{look}, append(turns, looptest.Say(text))...)
	}
	scans(b, "texts/250", dir)
}

func scans(b *testing.B, name, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(b, err)
	size := int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		require.NoError(b, err)
		size += info.Size()
	}
	b.Run(name+"/console", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			require.Len(b, body(b, ask(b, open(b, dir), "GET", "/api/sessions?q=nothing+has+this")), len(`{"sessions":[]}`)+1)
		}
	})
	b.Run(name+"/again", func(b *testing.B) {
		clock := byHand{new(atomic.Int64)}
		c := open(b, dir, func(s *console.Settings) { s.Clock = clock })
		ask(b, c, "GET", "/api/sessions")
		for b.Loop() {
			clock.passed.Add(int64(time.Second)) // what was read is no longer new
			ask(b, c, "GET", "/api/sessions?q=nothing+has+this")
		}
	})
	b.Run(name+"/lines", func(b *testing.B) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			for _, file := range files {
				readLines(b, file)
			}
		}
	})
}

func readLines(b *testing.B, name string) {
	f, err := os.Open(name)
	require.NoError(b, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Hash   string
			Record map[string]any
		}
		require.NoError(b, json.Unmarshal(lines.Bytes(), &line))
	}
}
