package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const printed = `goos: linux
cpu: A processor
BenchmarkDo/floor-2    1000  10.0 ns/op  0 B/op  0 allocs/op
BenchmarkDo/ours-2     1000  12.0 ns/op  0 B/op  0 allocs/op
BenchmarkDo/ours-2     1000  14.0 ns/op  0 B/op  0 allocs/op
BenchmarkStep/ours_run-2  9  50000 ns/op  5.000 events/op  100 B/op  10 allocs/op
PASS
`

func TestTheTable(t *testing.T) {
	m, err := parse(strings.NewReader(printed))
	require.NoError(t, err)
	require.Equal(t, "A processor", m.about["cpu"])
	require.Equal(t, 1, m.rounds())
	table := render("About.\n", m, []row{
		{
			name: "do", bench: "Do", to: "floor", work: "Work.",
			lines: []line{{name: "floor", text: "floor"}, {name: "ours", text: "ours"}, {name: "gone", text: "gone", why: "does not build"}, {name: "later", text: "later"}},
			aims:  []aim{{line: "ours", unit: "ns/op", most: 10}, {line: "ours", unit: "ns/op", most: 2, of: "floor"}, {line: "later", unit: "ns/op", most: 1}},
		},
		{name: "step", bench: "Step", to: "ours_run", per: "events/op", work: "Each.", lines: []line{{name: "ours_run", text: "ours"}}},
	})
	require.Equal(t, `About.

### do

Work.

- Aim: ours, at most 10 ns: 13, **missed**.
- Aim: ours, at most 2 × floor in ns (20): 13, met.
- Aim: later, at most 1 ns: not measured.

| | ns | B | allocs | ratio |
|---|--:|--:|--:|--:|
| floor | 10 | 0 | 0 | 1 |
| **ours** | 13 | 0 | 0 | 1.3 |
| gone | does not build | | | |
| later | – | – | – | – |

### step

Each.

| | ns | B | allocs | ratio |
|---|--:|--:|--:|--:|
| **ours** | 10,000 | 20 | 2 | 1 |
`, table)
}

func TestNumber(t *testing.T) {
	for want, v := range map[string]float64{"0": 0, "1": 1, "1.3": 1.3, "0.123": 0.12345, "12.3": 12.34, "123": 123.4, "1,230": 1234, "1,230,000": 1234567, "1,000": 999.9, "999": 999.4} {
		require.Equal(t, want, number(v, true), v)
	}
	require.Equal(t, "–", number(0, false))
}

func TestPublish(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	require.NoError(t, os.WriteFile(file, []byte("Before\n"+begins+"\nold\n"+ends+"\nAfter\n"), 0o600))
	require.NoError(t, publish(file, "new"))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "Before\n"+begins+"\n\nnew\n"+ends+"\nAfter\n", string(text))
	require.NoError(t, os.WriteFile(file, []byte("Nothing\n"), 0o600))
	require.ErrorContains(t, publish(file, "new"), "they are not there")
}

func TestWhatIsNoBenchmarkIsSaid(t *testing.T) {
	_, err := parse(strings.NewReader("BenchmarkDo/floor-2 1000 10.0\n"))
	require.ErrorContains(t, err, "results:1: missing units")
	_, err = parse(strings.NewReader("BenchmarkDo/floor-2 1000 x ns/op\n"))
	require.Error(t, err)
}

// Every line has a valid benchmark name, and every reference and aim names a line of its row.
func TestRowsAreWhole(t *testing.T) {
	for _, r := range rows {
		names := map[string]bool{}
		for _, l := range r.lines {
			require.False(t, names[l.name], "%s: %s", r.name, l.name)
			names[l.name] = true
		}
		require.True(t, names[r.to], r.name)
		for _, a := range r.aims {
			for _, n := range []string{a.line, a.of} {
				require.True(t, n == "" || names[n], "%s: %s", r.name, n)
			}
			require.NotEmpty(t, unitNames[a.unit], r.name)
		}
	}
}
