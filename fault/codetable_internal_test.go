package fault

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// No name is in two lines of the table, and every line has an existing class.
func TestTablesNameEachNameOnce(t *testing.T) {
	for name, table := range map[string]string{
		"strong codes": strongTable, "weak codes": weakTable, "tools' codes": bothTable, "statuses": statusTable,
		"names of documents": homeTable, "finishes": finishTable, "types": typeTable,
	} {
		seen, of := map[string]bool{}, meanings(table)
		for line := range strings.Lines(strings.TrimSpace(table)) {
			class, names, _ := strings.Cut(strings.TrimSpace(line), ": ")
			assert.NotEmpty(t, Class(class).Plane(), "%s: %q", name, class)
			for _, one := range strings.Fields(names) {
				assert.False(t, seen[one], "%s: %q", name, one)
				assert.Equal(t, Class(class), of(one))
				seen[one] = true
			}
		}
		assert.Empty(t, of(""))
	}
	for _, rule := range phraseRules() {
		assert.NotEmpty(t, rule.class.Plane(), rule.class)
	}
}

// Every code of the table is squashed: no other would be found.
func TestCodesAreSquashed(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(strongTable + weakTable)) {
		_, codes, _ := strings.Cut(line, ":")
		for _, code := range strings.Fields(codes) {
			own := code[strings.IndexByte(code, '/')+1:]
			assert.Equal(t, own, squash(own))
		}
	}
}
