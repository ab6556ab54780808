package kittest

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
)

// noReplies are good responses without a reply, and what each is: a broken connection, or garbage.
var noReplies = map[string]struct {
	says  string
	class fault.Class
}{
	"empty": {"200 OK\nContent-Type: %s\n\n", fault.Network},
	"blank": {"200 OK\nContent-Type: %s\n\n \n", fault.Network},
	"false gzip": {"200 OK\nContent-Type: %s\nContent-Encoding: gzip\n\nThis is no gzip at all.",
		fault.InvalidResponse},
	"a page": {"200 OK\nContent-Type: text/html\n\n<html>%[1]s</html>", fault.InvalidResponse},
	"null":   {"200 OK\nContent-Type: application/json\n\nnull", fault.InvalidResponse},
}

// bodies checks that a good response without a reply has one class, streamed or not.
func bodies(t *testing.T, c Config) {
	kind := cmp.Or(c.StreamType, "text/event-stream")
	for name, body := range noReplies {
		bothWays(t, name, func(t *testing.T, stream bool) {
			sent := "application/json"
			if stream {
				sent = kind
			}
			s := Serve(t, fmt.Sprintf(body.says, sent))
			_, err := reply(t, c, s.URL, s.Client, plain(stream))
			require.Error(t, err)
			assert.Equal(t, body.class, fault.Classify(fault.Response{Err: err}).Class, err)
		})
	}
}
