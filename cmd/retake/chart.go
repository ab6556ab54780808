package main

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/policy"
)

// barWidth is the length of the longest bar, in characters.
const barWidth = 40

// chart writes the waits as a bar chart.
func (d *delays) chart(e *env, p policy.RetryPolicy, class fault.Class, rows []policy.Planned) {
	jittered := slices.ContainsFunc(rows, func(r policy.Planned) bool { return r.Min != r.Max })
	fmt.Fprintf(e.out, "%s\n%s\n\n", e.paint.bold(plain(d.title(class, len(rows)+1, jittered))), e.paint.faint(p.Backoff.String()))
	var waits, ranges cells
	longest := time.Duration(0)
	for _, r := range rows {
		waits.add(r.Delay.String())
		ranges.add(spread(r))
		longest = max(longest, r.Delay)
	}
	for n, r := range rows {
		line := fmt.Sprintf("  after attempt %-*d  %*s  %-*s  %s",
			len(fmt.Sprint(len(rows))), r.Attempt, waits.width, waits.cells[n], ranges.width, ranges.cells[n],
			e.paint.cyan(bar(r.Delay, longest)))
		fmt.Fprintln(e.out, strings.TrimRight(line, " "))
	}
	if len(rows) > 0 {
		fmt.Fprintln(e.out)
	}
	fmt.Fprintf(e.out, "total %s\n", e.paint.bold(totalText(rows)))
}

func (d *delays) title(class fault.Class, attempts int, jittered bool) string {
	parts := []string{d.policy}
	if d.tool != "" {
		parts = append(parts, "tool "+d.tool)
	}
	if class != "" {
		parts = append(parts, string(class))
	}
	parts = append(parts, several.Of(attempts, "attempt", "attempts"))
	if d.seed != "" {
		parts = append(parts, fmt.Sprintf("seed %q", d.seed))
	} else if jittered {
		parts = append(parts, "before jitter")
	}
	return strings.Join(parts, ", ")
}

// spread is what jitter can make of a wait; empty where it is certain.
func spread(r policy.Planned) string {
	if r.Min == r.Max {
		return ""
	}
	return fmt.Sprintf("(%s to %s)", r.Min, r.Max)
}

// bar is a bar for d where the longest is barWidth; whatever is waited at all shows.
func bar(d, longest time.Duration) string {
	if d <= 0 {
		return ""
	}
	width := new(big.Int).Mul(big.NewInt(int64(d)), big.NewInt(barWidth))
	return strings.Repeat("█", max(1, int(width.Quo(width, big.NewInt(int64(longest))).Int64())))
}

// totalText is the sum of the waits for people.
func totalText(rows []policy.Planned) string {
	sum := total(rows)
	if sum.IsInt64() {
		return time.Duration(sum.Int64()).String()
	}
	return string(millis(sum)) + "ms"
}

// cells is one column of a table.
type cells struct {
	cells []string
	width int
}

func (c *cells) add(text string) {
	c.cells = append(c.cells, text)
	c.width = max(c.width, len([]rune(text)))
}
