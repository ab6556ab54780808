package wire_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/internal/wire"
)

func TestABodyIsToldByItsBeginning(t *testing.T) {
	for body, want := range map[string]wire.Form{
		`{"a":1}`: wire.JSON, " \r\n\t[1]": wire.JSON, "\ufeff{}": wire.JSON,
		"data: {}": wire.EventStream, "\n\nevent: x\n": wire.EventStream, "id:1\n": wire.EventStream, "retry:1\n": wire.EventStream, ": ping\n\n": wire.EventStream,
		"da": wire.EventStream, "\ufeffdata:": wire.EventStream,
		"": wire.Unknown, "  ": wire.Unknown, "<html>": wire.Unknown, "date: today": wire.Unknown, `"text"`: wire.Unknown, "null": wire.Unknown, strings.Repeat(" ", 5000) + "{}": wire.Unknown,
	} {
		form, whole := wire.Sniff(io.NopCloser(iotest.OneByteReader(strings.NewReader(body))))
		assert.Equal(t, want, form, body)
		left, err := io.ReadAll(whole)
		require.NoError(t, err)
		assert.Equal(t, strings.TrimPrefix(body, "\ufeff"), string(left))
	}
	broken := errors.New("broken")
	form, whole := wire.Sniff(io.NopCloser(io.MultiReader(strings.NewReader("da"), iotest.ErrReader(broken))))
	assert.Equal(t, wire.EventStream, form)
	_, err := io.ReadAll(whole)
	assert.Equal(t, broken, err, "the end of a body is told to its reader")
}

func TestAWholeBodyMayBearTheMarkOfAStream(t *testing.T) {
	for body, want := range map[string]string{
		"{}\n\ndata: [DONE]\n\n": "{}", "{}[DONE]": "{}", " {} ": " {} ", "{} {}": "{} {}", "[DONE]": "[DONE]",
	} {
		got, err := wire.ReadWhole(strings.NewReader(body))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestRequestIdsOfGatewaysAreRead(t *testing.T) {
	for name, id := range map[string]string{"Request-Id": "r1", "X-Amzn-Requestid": "5f2c-77", "Cf-Ray": "ray"} {
		h := wire.Head{Status: 200, Header: http.Header{name: {id}}}
		assert.Equal(t, id, h.RequestID())
	}
}
