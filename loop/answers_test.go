package loop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// A long string is shown whole as the answer to a native call. Within a text it is cut and says so.
func TestALongStringIsBoundedInATextAlone(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	read := tool.New("read", "Read.", func(context.Context, struct{}) (string, error) { return long, nil })
	tools, err := tool.NewSet(read)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		ask    looptest.Turn
		answer message.Role
		want   string
	}{
		"native": {looptest.Call(call("read", `{}`)), message.Tool, long},
		"text": {looptest.Say(`{"name":"read","arguments":{}}`), message.User,
			`Result of read: "` + long[:64<<10] + `" (the first 65536 of 200000 bytes)`},
	} {
		t.Run(name, func(t *testing.T) {
			model := looptest.NewModel(c.ask, looptest.Say("Done."))
			result, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Read it."}, loop.Config{Tools: tools})
			require.NoError(t, err)
			told := result.Transcript[2]
			assert.Equal(t, c.answer, told.Role)
			assert.True(t, c.want == told.Text, "%.100q", told.Text)
		})
	}
}
