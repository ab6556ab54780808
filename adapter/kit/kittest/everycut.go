package kittest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// How many bytes a cut is from the next one, and in short tests: every byte would take minutes.
const step, shortStep = 11, 97

// everyCut checks that each good response of the scripts, cut anywhere, is a broken connection and no reply,
// whether the body ends there or breaks. The whole reply may come of it if only its usage is missing, or what
// says nothing.
func everyCut(t *testing.T, c Config) {
	_, files := c.scripts(t, "wire")
	step := step
	if testing.Short() {
		step = shortStep
	}
	for _, path := range files {
		file := readFile(t, path)
		all, req := file.responses(t), file.request(t)
		if len(all) > 1 || all[0].order != "" || all[0].status != http.StatusOK {
			continue
		}
		if req.Stream != nil {
			req.Stream = func(loop.Delta) {}
		}
		from := &cutting{response: all[0]}
		model, err := c.New("http://server.invalid", &http.Client{Transport: from})
		require.NoError(t, err)
		from.length, from.end = len(from.body), io.EOF
		whole, err := model.Reply(t.Context(), req)
		if err != nil {
			continue
		}
		t.Run(nameOf(path), func(t *testing.T) {
			for from.length = 0; from.length < len(from.body); from.length += step {
				for _, from.end = range []error{io.EOF, io.ErrUnexpectedEOF} {
					got, err := model.Reply(t.Context(), req)
					from.check(t, whole, got, err)
				}
			}
		})
	}
}

// cutting answers with the beginning of a response.
type cutting struct {
	response
	length int
	end    error
}

// RoundTrip answers.
func (c *cutting) RoundTrip(r *http.Request) (*http.Response, error) {
	body := io.MultiReader(strings.NewReader(c.body[:c.length]), iotest.ErrReader(c.end))
	return &http.Response{StatusCode: c.status, Header: c.header.Clone(), Body: io.NopCloser(body),
		Request: r}, nil
}

// check checks what came of a cut.
func (c *cutting) check(t *testing.T, whole, got message.Reply, err error) {
	at := fmt.Sprintf("%v after %q", c.end, c.body[max(0, c.length-60):c.length])
	if err != nil {
		f, own := failureOf(err)
		require.True(t, own, at)
		assert.Equal(t, fault.Network, f.Class, "%s: %v", at, err)
		return
	}
	got.Usage, whole.Usage = message.Usage{}, message.Usage{}
	assert.Equal(t, whole, got, at)
}
