package result

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Numbers are equal by their exact values, however they are written, and whatever their size.
func TestNumbersAreComparedExactly(t *testing.T) {
	long := "1e" + strings.Repeat("9", 1<<20)
	for _, c := range []struct {
		a, b  string
		equal bool
	}{
		{"-9007199254740993", "-9007199254740992", false}, {"9007199254740993", "9007199254740992", false},
		{"0.1234567890123456789", "0.1234567890123456788", false}, {"100", "100.0", true}, {"100", "1e2", true}, {"1E+2", "0.1e3", true},
		{"-0", "0", true}, {"-0.0e5", "0", true}, {"-1", "1", false}, {"1e999999999", "1e999999999", true}, {"10e999999998", "1e999999999", true},
		{"1e999999999", "1e999999998", false}, {"120", "12e1", true}, {"0.0012", "12e-4", true}, {long, long, true}, {long, "1", false},
	} {
		assert.Equal(t, c.equal, same(json.RawMessage(c.a), json.RawMessage(c.b)), "%.40s %.40s", c.a, c.b)
		within := func(n string) json.RawMessage { return json.RawMessage(`{"a":[` + n + `]}`) }
		assert.Equal(t, c.equal, same(within(c.a), within(c.b)))
	}
}
