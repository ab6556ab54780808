package report_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/report"
)

func TestAPromptShowsTheLinesThatAreNew(t *testing.T) {
	long := strings.Repeat("You book rooms.\n", 20)
	for name, c := range map[string]struct{ was, is, part string }{
		"the_same":      {long + "b", long + "b", ""},
		"changed":       {long + "b\n" + long, long + "c\n" + long, "c"},
		"added":         {long, long + "c\nd", "c\nd"},
		"removed":       {long + "b\nc\n" + long + "d", long + "c\n" + long + "d", "c"},
		"end_removed":   {long + "b\nc", long + "b", "b"},
		"too_few_alike": {"a\nb", "a\nc", "a\nc"},
	} {
		part, same := report.News(c.was, c.is)
		assert.Equal(t, c.part, part, name)
		if part != c.is {
			assert.Equal(t, len(c.is)-len(part), same, name)
		}
	}
}
