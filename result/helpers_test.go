package result_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/result"
)

// raw is a result with any data.
type raw = result.Result[json.RawMessage]

// decode reads a valid document.
func decode(t require.TestingT, form result.Form, doc string) raw {
	r, err := result.Decode[json.RawMessage](form, []byte(doc))
	require.NoError(t, err, doc)
	return r
}

// encode writes a valid result.
func encode(t require.TestingT, form result.Form, r raw) string {
	doc, err := result.Encode(form, r)
	require.NoError(t, err)
	return string(doc)
}

// roundTrip reads a document and requires that every form brings it back.
func roundTrip(t *testing.T, form result.Form, doc string) raw {
	t.Helper()
	r := decode(t, form, doc)
	require.JSONEq(t, doc, encode(t, form, r))
	throughAll(t, r)
	for _, other := range result.Forms() {
		there := decode(t, other, encode(t, other, r))
		require.JSONEq(t, doc, encode(t, form, there), "by way of %s", other)
	}
	return r
}

// throughAll requires that every form brings a result back.
func throughAll(t require.TestingT, r raw) {
	for _, form := range result.Forms() {
		doc := encode(t, form, r)
		require.Equal(t, r, decode(t, form, doc), "%s: %s", form, doc)
	}
}

// refused requires that a document is refused with this error.
func refused(t *testing.T, form result.Form, doc, words string) {
	t.Helper()
	_, err := result.Decode[json.RawMessage](form, []byte(doc))
	var invalid *result.InvalidError
	require.ErrorAs(t, err, &invalid, doc)
	require.NotEmpty(t, invalid.Issues)
	require.Equal(t, string(form)+": "+words, err.Error())
}

func warned(r raw, warnings ...string) raw {
	r.Meta = r.Warn(warnings...)
	return r
}
