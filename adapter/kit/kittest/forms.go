package kittest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
)

// replies checks that a good response is read by what it is, whatever its status and Content-Type, and
// whether a stream was asked for.
func replies(t *testing.T, c Config) {
	bodies := map[string]string{}
	for n, whole := range c.Whole {
		bodies[fmt.Sprintf("whole %d", n)], bodies[fmt.Sprintf("whole %d with a mark", n)] = whole,
			whole+"\n\ndata: [DONE]\n\n"
		bodies[fmt.Sprintf("whole %d after a mark of the order", n)] = "\ufeff \n" + whole
		if len(c.Streams) > 0 || c.StreamType != "" { // an adapter that reads no streams reads no events
			bodies[fmt.Sprintf("whole %d as an event", n)] = asEvents(t, whole)
		}
	}
	for n, stream := range c.Streams {
		bodies[fmt.Sprintf("stream %d", n)], bodies[fmt.Sprintf("stream %d after a comment", n)] = stream,
			": ping\n\n"+stream
		bodies[fmt.Sprintf("stream %d after much blank", n)] = strings.Repeat("\n ", 2000) + "\n" + stream
	}
	for form, body := range bodies {
		for _, head := range []string{"200 OK\n", "200 OK\nContent-Type: application/json\n",
			"200 OK\nContent-Type: text/event-stream; charset=utf-8\n", "200 OK\nContent-Type: text/plain\n",
			"203 Non-Authoritative Information\nContent-Type: ???\n"} {
			for _, asked := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/asked=%v", form, strings.TrimSpace(head), asked),
					func(t *testing.T) {
						s := Serve(t, head+"\n"+body)
						req, told := plain(asked), ""
						if asked {
							req.Stream = func(d loop.Delta) { told += d.Text }
						}
						got, err := reply(t, c, s.URL, s.Client, req)
						require.NoError(t, err)
						assert.Equal(t, "Yes.", got.Text)
						assert.True(t, !asked || told == got.Text, "told %q", told)
					})
			}
		}
	}
}

// asEvents returns JSON values as the events of a stream, and its mark.
func asEvents(t *testing.T, values string) string {
	var events strings.Builder
	for from := json.NewDecoder(strings.NewReader(values)); from.More(); {
		var value json.RawMessage
		require.NoError(t, from.Decode(&value))
		var line bytes.Buffer
		require.NoError(t, json.Compact(&line, value))
		fmt.Fprintf(&events, "data: %s\n\n", &line)
	}
	return events.String() + "data: [DONE]\n\n"
}
