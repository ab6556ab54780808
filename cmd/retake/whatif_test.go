package main

import (
	"bufio"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/message"
)

// Under a policy without prices everything would seem to cost nothing.
func TestMoneyIsComparedOnlyBetweenPrices(t *testing.T) {
	used := message.Usage{InputTokens: 100}
	priced, free, none := journal.Totals{Usage: used, Cost: 300}, journal.Totals{Usage: used}, journal.Totals{}
	const rows, said, nothing = "cost wasted", "not compared", ""
	for name, c := range map[string]struct {
		recorded, whatIf journal.Totals
		want             string
	}{
		"both": {priced, priced, rows}, "neither": {free, free, nothing}, "the record alone": {priced, free, said},
		"the other policy alone": {free, priced, said}, "no call would be made": {priced, none, rows},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			e := &env{out: bufio.NewWriter(&b)}
			new(whatif).table(e, journal.Comparison{Recorded: c.recorded, Answered: c.recorded, WhatIf: c.whatIf})
			require.NoError(t, e.out.Flush())
			for _, text := range []string{rows, said} {
				assert.Equal(t, text == c.want, strings.Contains(b.String(), text), "%s\n%s", text, b.String())
			}
		})
	}
}
