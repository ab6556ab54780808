package kittest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
)

// Forms checks that a good response is read by what it is, whatever its Content-Type and whether a stream was
// asked for. whole and stream are two forms of a reply with the text "Yes."; stream is "" if the API has only
// one form.
func Forms(t *testing.T, a Adapter, whole, stream string) {
	t.Helper()
	bodies := map[string]string{
		"whole": whole, "whole with a mark": whole + "\n\ndata: [DONE]\n\n", "whole after a mark of the order": "\ufeff \n" + whole,
		"stream": stream, "stream after a comment": ": ping\n\n" + stream,
	}
	for form, body := range bodies {
		if stream == "" && strings.HasPrefix(form, "stream") {
			continue
		}
		for _, kind := range []string{"", "Content-Type: application/json\n", "Content-Type: text/event-stream; charset=utf-8\n", "Content-Type: text/plain\n", "Content-Type: ???\n"} {
			for _, asked := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/asked=%v", form, strings.TrimSpace(kind), asked), func(t *testing.T) {
					s := Serve(t, "200 OK\n"+kind+"\n"+body)
					model, err := a.New(s.URL, s.Client)
					require.NoError(t, err)
					req, told := Asks()["plain"], ""
					if asked {
						req.Stream = func(d loop.Delta) { told += d.Text }
					}
					reply, err := model.Reply(t.Context(), req)
					require.NoError(t, err)
					assert.Equal(t, "Yes.", reply.Text)
					assert.True(t, !asked || told == reply.Text, "told %q", told)
				})
			}
		}
	}
}
