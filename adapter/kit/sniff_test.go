package kit_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/fault"
)

func TestABodyIsToldByItsBeginning(t *testing.T) {
	for body, want := range map[string]kit.Form{
		`{"a":1}`: kit.JSON, " \r\n\t[1]": kit.JSON, "\ufeff{}": kit.JSON,
		"data: {}": kit.EventStream, "\n\nevent: x\n": kit.EventStream, "id:1\n": kit.EventStream, "retry:1\n": kit.EventStream, ": ping\n\n": kit.EventStream,
		"da": kit.EventStream, "\ufeffdata:": kit.EventStream,
		"": kit.Unknown, "  ": kit.Unknown, "<html>": kit.Unknown, "date: today": kit.Unknown, `"text"`: kit.Unknown, "null": kit.Unknown, strings.Repeat(" \n", 5000) + "{}": kit.JSON,
	} {
		form, whole := kit.Sniff(io.NopCloser(iotest.OneByteReader(strings.NewReader(body))))
		assert.Equal(t, want, form, body)
		left, err := io.ReadAll(whole)
		require.NoError(t, err)
		assert.Equal(t, strings.TrimLeft(strings.TrimPrefix(body, "\ufeff"), " \t\r\n"), string(left))
	}
	broken := errors.New("broken")
	form, whole := kit.Sniff(io.NopCloser(io.MultiReader(strings.NewReader("da"), iotest.ErrReader(broken))))
	assert.Equal(t, kit.EventStream, form)
	_, err := io.ReadAll(whole)
	assert.Equal(t, broken, err, "the end of a body is told to its reader")
}

func TestAWholeBodyMayBearTheMarkOfAStream(t *testing.T) {
	for body, want := range map[string]string{
		"{}\n\ndata: [DONE]\n\n": "{}", "{}[DONE]": "{}", " {} ": " {} ", "{} {}": "{} {}", "[DONE]": "[DONE]",
	} {
		got, err := kit.ReadWhole(strings.NewReader(body))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestRequestIdsOfGatewaysAreRead(t *testing.T) {
	for name, id := range map[string]string{"Request-Id": "r1", "X-Amzn-Requestid": "5f2c-77", "Cf-Ray": "ray"} {
		h := kit.Head{Status: 200, Header: http.Header{name: {id}}}
		assert.Equal(t, id, h.RequestID())
	}
	for _, own := range []string{"X-Generation-Id", "Mistral-Correlation-Id", "X-Ds-Trace-Id"} {
		h := kit.Head{Status: 429, Header: http.Header{own: {"theirs"}, "Cf-Ray": {"ray"}}}
		assert.Equal(t, "theirs", h.RequestID(), own)
		assert.Equal(t, "theirs", fault.RequestID(h.Header), own)
	}
}
