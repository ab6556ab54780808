package fault

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A code that stood in two rows, or that no squashed code can be, would never be found.
func TestEachCodeIsFoundInItsOwnRow(t *testing.T) {
	for _, row := range strongCodes {
		assert.Equal(t, " "+strings.Join(strings.Fields(row.all), " ")+" ", row.all)
		for code := range strings.FieldsSeq(row.all) {
			assert.Equal(t, row.class, strongCodes.of(code), code)
			own := code[strings.IndexByte(code, '/')+1:]
			assert.Equal(t, own, squash(own))
		}
	}
	assert.Empty(t, strongCodes.of(""))
	assert.Empty(t, strongCodes.of("timeou"))
}
